"""Gives memories to coding agents: what each agent's own files need for it, planned, shown, written and taken back."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
