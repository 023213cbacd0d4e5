"""Chooses and calls a language model. Nothing here is imported before a model is needed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
