"""Whether the memories that agents were given helped: how often they were served, followed, contradicted, corrected."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
