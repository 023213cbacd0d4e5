"""The organisation's database, and what a team has in it: shared memories, who approved and reviews what, the state of
its backfill.

It needs the extra `lerim[org]`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
