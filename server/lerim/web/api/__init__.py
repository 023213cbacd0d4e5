"""The HTTP API under `/api/v1`: the same objects as `--json`, for programs and for the dashboard."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
