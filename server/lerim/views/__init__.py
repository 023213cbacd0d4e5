"""The objects that the command line prints with `--json` and the HTTP API returns, and the functions that fill them.

Each object is defined, and made, in one place.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
