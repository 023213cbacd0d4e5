"""The sources of a day's entry: sessions, git, memories, and the person's notes and feed files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
