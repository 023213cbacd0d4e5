"""The sessions of this machine, and copies of others: where they are, and what the rules find in them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
