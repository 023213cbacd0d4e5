"""Searches memories by words, and by the file or symbol they refer to."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
