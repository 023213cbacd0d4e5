"""All operations of the API and their routes."""

from __future__ import annotations

from lerim.web.api import memories, projects, sign_in
from lerim.web.api.operations import make_route

OPERATIONS = [*projects.operations, *memories.operations, *sign_in.operations]
"""In the order of the document; a path with a fixed last part comes before one with a variable there."""
routes = [make_route(operation) for operation in OPERATIONS]
