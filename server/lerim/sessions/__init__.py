"""Finds, reads, catalogs and searches the sessions that coding agents leave on disk."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
