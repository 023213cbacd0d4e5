"""The hooks of coding agents: the program that agents run at their events, its installation, and the index from
which it answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
