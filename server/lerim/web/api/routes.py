"""All operations of the API and their routes."""

from __future__ import annotations

from functools import cache

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lerim.web.api import jobs, memories, memory_acts, projects, review, server, sessions
from lerim.web.api.openapi import make_document
from lerim.web.api.operations import make_route

API_PREFIX = "/api/v1"
OPERATIONS = [
    *projects.operations,
    *memories.operations,
    *memory_acts.operations,
    *review.operations,
    *sessions.operations,
    *jobs.operations,
    *server.operations,
]
"""In the order of the document. A path with a fixed last part comes before one with a variable there."""


@cache
def _encode_document() -> bytes:
    return msgspec.json.encode(make_document(OPERATIONS, API_PREFIX))


def _show_document(_request: Request) -> Response:
    return Response(_encode_document(), media_type="application/json")


api_routes = [*map(make_route, OPERATIONS), Route("/openapi.json", _show_document, methods=["GET"])]
