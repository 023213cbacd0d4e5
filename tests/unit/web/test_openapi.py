"""The OpenAPI document describes every operation, and no request makes the server fail, a wrong one included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desk import Desk, correction, desk_in
from isolation import isolate
from lerim.project import project
from lerim.web.api import API_PREFIX, OPERATIONS
from long import times
from proposals import propose
from web_server import WebServer, web_server


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, small_repository: Any) -> Iterator[tuple[WebServer, Desk]]:
    """A server of a home with a repository that has a session, a candidate and a memory."""
    import shutil

    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, home)
        desk = desk_in(home, shutil.copytree(small_repository, folder / "repo").resolve())
        desk.session("s1", *correction(desk))
        desk.sync()
        project.add_project(desk.place.project, desk.home)
        propose(desk.place, "Money is in cents")
        with web_server(desk.home) as server:
            yield server, desk


@pytest.fixture(scope="module")
def document(world: tuple[WebServer, Desk]) -> Any:
    return world[0].get("/openapi.json")


def test_the_document_has_every_operation_and_resolves(document: Any) -> None:
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert described == {(operation.method, API_PREFIX + operation.path) for operation in OPERATIONS}
    ids = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(set(ids)) == len(ids)
    known = set(document["components"]["schemas"])
    used = {part.split("/")[-1] for part in _references(document)}
    assert used <= known
    assert {"StatusOutput", "MemoryListOutput", "SyncReport", "ErrorOutput"} <= known


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref":
                yield value
            else:
                yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


NAMES = st.one_of(st.text(max_size=40), st.sampled_from(["..", ".", "global", "s1", "a/b", "\x00", "%00", "ﬀ", "-1"]))


def values_of(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that a schema allows; now and then others."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].split("/")[-1]]
    if "anyOf" in schema:
        return st.one_of([values_of(one, schemas, depth + 1) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object":
            required = schema.get("required", [])
            parts = {
                name: values_of(one, schemas, depth + 1) if depth < 4 else st.none()
                for name, one in schema.get("properties", {}).items()
            }
            optional = {name: part for name, part in parts.items() if name not in required}
            return st.fixed_dictionaries({name: parts[name] for name in required}, optional=optional)
        case "array":
            return st.lists(values_of(schema["items"], schemas, depth + 1), max_size=3)
        case "integer":
            return st.integers(schema.get("minimum", -5), schema.get("maximum", 2**63 - 1))
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return NAMES


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method} {one.path}")
def test_no_request_makes_the_server_fail(operation: Any, world: tuple[WebServer, Desk], document: Any) -> None:
    server, desk = world
    schemas = document["components"]["schemas"]
    described = document["paths"][API_PREFIX + operation.path][operation.method.lower()]
    key = desk.place.project.key
    ids = [one["id"] for one in server.get(f"/projects/{key}/candidates")["candidates"]]
    if operation.path.endswith(("/sync", "/ask")):
        key = "0" * 16  # what starts processes is tested elsewhere; here it must refuse

    @settings(suppress_health_check=list(HealthCheck), max_examples=times(8))
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        path = API_PREFIX + operation.path
        query = {}
        for parameter in described["parameters"]:
            if parameter["in"] == "path":
                known = {"project": [key], "candidate": ids or ["none"], "session": ["s1"]}.get(parameter["name"], [])
                choices = st.sampled_from(known) | NAMES if known else NAMES
                path = path.replace(f"{{{parameter['name']}}}", _quote(data.draw(choices)))
            elif parameter["required"] or data.draw(st.booleans()):
                query[parameter["name"]] = data.draw(values_of(parameter["schema"], schemas) | NAMES)
        content: bytes | None = None
        headers = {}
        if "requestBody" in described:
            body = described["requestBody"]["content"]["application/json"]["schema"]
            content = json.dumps(data.draw(values_of(body, schemas) | WRONG)).encode()
            content = data.draw(st.sampled_from([content, content, content, content[:-1], b"\xff", b"[" * 2000]))
            headers["Content-Type"] = data.draw(st.sampled_from(["application/json", "application/json", "text/plain"]))
        response = server.client.request(operation.method, path, params=query, content=content, headers=headers)
        assert response.status_code < 500, (path, query, content, response.text)
        if "json" in response.headers.get("content-type", ""):
            response.json()

    ask()


def _quote(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="") or "-"
