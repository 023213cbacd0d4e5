"""What is wrong in memory files, as diagnostics, and what can be done about it, as code actions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
