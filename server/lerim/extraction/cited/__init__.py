"""Parses sentences of a model that cite numbered texts, and checks that these texts support them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
