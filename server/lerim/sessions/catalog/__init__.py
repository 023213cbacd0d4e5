"""The catalog: every session on this machine in one database, with a row for each turn."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
