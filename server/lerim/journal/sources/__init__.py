"""What a journal is made from besides sessions and git: the person's notes and feed files (`journal.sources`)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
