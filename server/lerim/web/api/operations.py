"""An operation of the API: a function whose annotations say what it takes and returns.

`make_route` checks a request by these annotations before it calls the function, and `openapi.py` describes them.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lerim.errors import RequestError
from lerim.memory import MemorySearch
from lerim.paths import Home
from lerim.review import ReviewPaths
from lerim.views import ProjectContext, find_project_by_key, load_context
from lerim.web.answers import json_response
from lerim.web.events import event_response
from lerim.web.running import COMMAND_HEADER
from lerim.web.security import has_token
from lerim.web.served import Served, find_served

Method = Literal["GET", "POST"]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Offset = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
"""Pages of a list: up to `limit` items after the first `offset`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what is served, and the values in its path. A command asks for the files as they are now, and
    does itself what it does with every answer: it removes secrets from what it prints, and brings what agents are given
    up to date."""

    served: Served
    path: dict[str, str]
    is_command: bool = False

    @property
    def home(self) -> Home:
        """Lerim's home folder."""
        return self.served.home

    def context(self) -> ProjectContext:
        """Returns the project named in the path, with its settings. Raises NotFoundError and SettingsError."""
        project = find_project_by_key(self.path["project"], self.home)
        return load_context(project, self.home, self.served.environ)

    def review_paths(self) -> ReviewPaths:
        """Returns the paths of the project named in the path. Raises NotFoundError."""
        return ReviewPaths(find_project_by_key(self.path["project"], self.home), self.home)

    def target(self) -> tuple[ReviewPaths, str]:
        """Returns the paths of the project, and the id of the candidate, memory or item, that the path names; "" if it
        names none. Raises NotFoundError."""
        return self.review_paths(), next((name for part, name in self.path.items() if part != "project"), "")

    def use_search(self, paths: ReviewPaths) -> AbstractContextManager[MemorySearch]:
        """Gives the open search of these memories, as `OpenSearches.use`."""
        project = None if paths.project.is_personal else paths.project
        return self.served.searches.use(project, self.home, is_current=self.is_command)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `run` is called with a Call and, by name, with `query` and `body` if it takes them.

    It returns the answer, or yields events. `is_secret`: the answer is a secret by itself.
    """

    method: Method
    path: str
    summary: str
    run: Callable[..., Any]
    is_secret: bool = False

    @property
    def query(self) -> type[msgspec.Struct] | None:
        """The structure of the query string, if it takes one."""
        return self._hints().get("query")

    @property
    def body(self) -> type[msgspec.Struct] | None:
        """The structure of the body, if it takes one."""
        return self._hints().get("body")

    @property
    def answer(self) -> Any:
        """The structure of the answer; for a stream, the union of its events."""
        returned = self._hints()["return"]
        return typing.get_args(returned)[0] if self.is_stream else returned

    @property
    def is_stream(self) -> bool:
        """Whether the answer is a stream of events."""
        return typing.get_origin(self._hints()["return"]) is AsyncGenerator

    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self.run)


def make_route(operation: Operation) -> Route:
    """Returns the route that answers an operation."""
    query_type, body_type, is_stream = operation.query, operation.body, operation.is_stream

    async def answer(request: Request) -> Response:
        arguments: dict[str, object] = {}
        if query_type is not None:
            arguments["query"] = parse_query(request, query_type)
        if body_type is not None:
            arguments["body"] = parse_body(await request.body(), body_type, request.headers.get("content-type", ""))
        served = find_served(request)
        is_command = COMMAND_HEADER in request.headers and has_token(served, request.headers)  # never a browser's
        call = Call(served, dict(request.path_params), is_command)
        if is_stream:
            return event_response(await run_in_threadpool(operation.run, call, **arguments))
        if inspect.iscoroutinefunction(operation.run):
            return json_response(await operation.run(call, **arguments), is_secret=operation.is_secret)
        return await run_in_threadpool(lambda: json_response(operation.run(call, **arguments), is_secret=is_command))

    return Route(operation.path, answer, methods=[operation.method], name=operation.run.__name__)


def parse_query(request: Request, query_type: type[msgspec.Struct]) -> msgspec.Struct:
    """Parses the query string. Raises RequestError for a name or value that the operation does not take."""
    names = {field.encode_name: field for field in msgspec.structs.fields(query_type)}
    given = request.query_params
    if unknown := sorted(set(given) - names.keys()):
        listing = ", ".join(names)
        raise RequestError(f"There is no parameter {unknown[0][:80]!r}.", where="query", todo=f"Use one of: {listing}.")
    values: dict[str, object] = {
        name: given.getlist(name) if typing.get_origin(names[name].type) is list else given[name] for name in given
    }
    try:
        return msgspec.convert(values, query_type, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise RequestError(f"The query is invalid: {_explain(error)}.", where="query", todo=_SEE_DOCUMENT) from error


def parse_body(body: bytes, body_type: type[msgspec.Struct], content_type: str) -> msgspec.Struct:
    """Parses the body, which is a JSON object; nothing at all is an empty one. Raises RequestError.

    Forms of other websites cannot send JSON as `application/json` without asking first.
    """
    if not (body or content_type):
        body, content_type = b"{}", "application/json"
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise RequestError("The body is not JSON.", where="content-type", todo="Send `application/json`.")
    try:
        return msgspec.json.decode(body, type=body_type)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"The body is invalid: {_explain(error)}.", where="body", todo=_SEE_DOCUMENT) from error


def _explain(error: Exception) -> str:
    return str(error)[:300].rstrip(".")


_SEE_DOCUMENT = "See /api/v1/openapi.json."
