"""Files written and read so that a kill, a full disk or a hostile link loses nothing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
