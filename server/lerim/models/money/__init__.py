"""The cost of model calls, the models that the person agreed to, and the daily budget."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
