"""Reads the chats of Cursor: of the editor, of its command line and of its agents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
