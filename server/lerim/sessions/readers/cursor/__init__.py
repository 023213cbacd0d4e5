"""Reads Cursor's chats: from the editor, from the command line and from its agents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
