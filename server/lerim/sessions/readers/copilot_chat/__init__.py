"""Reads the chats of GitHub Copilot in VS Code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
