"""Checks memory files: what is wrong in one document, or in all of a project, and where."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
