"""Turns texts into vectors that are near to one another if they mean the same, with the extra `lerim[meaning]`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
