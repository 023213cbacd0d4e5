"""Writes memories into the files that coding agents read at their start, and makes candidates from the contents of such
files.

`lerim export` writes a block into `AGENTS.md`, `CLAUDE.md` or `GEMINI.md` and rules files for folders; `lerim
import` (`importing.py`) works in the other direction.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
