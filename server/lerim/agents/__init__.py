"""Gives memories to coding agents: plans the changes that each agent's own files need for it, shows them, makes them
and undoes them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
