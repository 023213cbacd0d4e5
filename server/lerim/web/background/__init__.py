"""`lerim up`: the server in the background, its log, and the files that let the system start it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
