"""`lerim mcp`: the project's memories and sessions for coding agents, over the Model Context Protocol (MCP)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
