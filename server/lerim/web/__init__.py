"""`lerim serve`: the HTTP API and the dashboard, for this machine. It needs the extra `lerim[serve]`.

`security.py` decides which requests are answered, `api/` answers programs, `pages/` answers the browser.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
