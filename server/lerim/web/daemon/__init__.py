"""What the server does by itself: it watches the agents' stores, syncs and maintains."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
