"""The sessions that coding agents leave on disk: found, read, kept in a catalog, searched."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
