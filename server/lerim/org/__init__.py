"""An organisation's past: sessions of many machines worked through by many workers, with PostgreSQL in their middle.

It needs the extra `lerim[org]`. What a team reads in the database is in `lerim.team`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
