"""The actions that a person performs by hand on an accepted memory, and undoing them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
