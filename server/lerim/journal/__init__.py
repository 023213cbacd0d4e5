"""The journal: what was done, decided, learned and left open on a day, written from sessions, commits and memories.

An entry is made anew whenever it is asked for, from what was there at the end of its day. It becomes a file only when
the person says so.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
