"""`lerim import`: what rules files and agents' own memories say, as candidates for the review."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
