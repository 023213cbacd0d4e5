"""Ranks what was said in a session by whether it is worth remembering, without a language model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
