"""An organisation's past: sessions of many machines worked through by many workers, with PostgreSQL in their middle.

It needs the extra `lerim[org]`, and no other part of Lerim uses it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
