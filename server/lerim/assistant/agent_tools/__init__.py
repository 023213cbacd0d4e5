"""The tools of coding agents: recall, why, sessions and propose. `lerim mcp` and the editor offer the same ones."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
