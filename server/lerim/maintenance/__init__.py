"""Maintains the memories of a store: plans what to merge, archive, close or consolidate."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
