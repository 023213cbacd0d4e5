"""Reads and writes files so that a kill, a full disk or a malicious link loses nothing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
