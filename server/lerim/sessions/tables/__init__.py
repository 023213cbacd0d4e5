"""The tables of the catalog, and functions that write, read and convert their rows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
