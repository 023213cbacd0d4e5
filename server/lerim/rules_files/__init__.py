"""The rules files that people write for coding agents (AGENTS.md, CLAUDE.md and others) and the memories that agents
keep themselves: where they are, and the claims in them, each at its line."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
