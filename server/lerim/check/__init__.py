"""Checks memory files, one document or all of a project, and finds what is wrong and where."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
