"""Checks whether the code that memories refer to still exists and is unchanged."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
