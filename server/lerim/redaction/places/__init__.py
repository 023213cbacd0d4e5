"""Recognizes secrets by their place: after a name, in a header, in a sentence.

Each module has `SEARCHED_NAMES`, which `NameFinder` searches for once per text, and `find_spans(text, lowered,
found_parts)`. `lowered` is the text in lower case, of the same length; `found_parts` are the name parts found in it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
