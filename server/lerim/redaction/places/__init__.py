"""Recognizes secrets by their place: after a name, in a header, in a sentence.

Each module has `SEARCHED_NAMES`, which `NameFinder` searches for once per text, and functions that get the text, the
text in lower case (of the same length) and the name parts that were found in it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
