"""The journal: what was done, decided, learned and left open on a day, written from sessions, commits and memories.

An entry is made again whenever it is asked for, from the sessions, commits and memories at the end of its day. It
becomes a file only when the person asks for it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
