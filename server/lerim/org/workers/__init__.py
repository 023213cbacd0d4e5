"""A worker: it takes jobs, extracts in processes of its own, stores results, and takes over what others left."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
