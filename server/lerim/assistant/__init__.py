"""Answers questions and decides what new claims do to memories, with a model whose output is checked by code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
