"""The links by which memories end others: which memories have ended, and how links that disagree are repaired."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
