"""What models cost an organisation: one budget and rate for all workers, stored answers, and the price estimated
beforehand."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
