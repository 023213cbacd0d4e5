"""What a team remembers: shared memories, who reviews and approved them, and the branch that proposes new ones."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
