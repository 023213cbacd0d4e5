"""Statistics over all sessions: how many, how long, what was run, what it cost."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
