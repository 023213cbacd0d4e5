"""Memory files as a language: completion, hovers, hints, definitions, references, renames, links, symbols, folding."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
