"""The settings: which ones exist, where they are read from, and how they are changed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
