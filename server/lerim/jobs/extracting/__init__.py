"""What a sync learns from one session by rules, without the catalog, and the processes that do so beside the writer."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
