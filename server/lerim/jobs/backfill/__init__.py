"""A backfill of a project's past: its plan, one run, and its report."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
