"""The OpenAPI document, made from the operations and the structures they take and return."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lerim import __version__
from lerim.views import ErrorOutput
from lerim.web.api.operations import Operation

_PATH_VARIABLE = re.compile(r"\{(\w+)\}")
_REFERENCE = "#/components/schemas/{name}"


def make_document(operations: Sequence[Operation], prefix: str) -> dict[str, Any]:
    """Returns the OpenAPI 3.1 document of these operations, whose paths begin with `prefix`."""
    types = {
        kind
        for operation in operations
        for kind in (operation.query, operation.body, operation.answer)
        if kind is not None
    }
    ordered = [ErrorOutput, *sorted(types, key=str)]
    schemas, components = msgspec.json.schema_components(ordered, ref_template=_REFERENCE)
    schema_by_type = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _describe_operation(operation, schema_by_type, components)
        paths.setdefault(prefix + operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lerim", "version": __version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": _TOKEN}},
        },
        "security": [{"token": []}],
    }


_DESCRIPTION = "The objects are those that the `lerim` command prints with `--json`."
_TOKEN = "The content of `~/.lerim/server/token`."


def _describe_operation(
    operation: Operation, schema_by_type: Mapping[Any, dict[str, Any]], components: Mapping[str, Any]
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.run.__name__,
        "summary": operation.summary,
        "description": (operation.run.__doc__ or "").partition("\n\n")[0],
        "parameters": [*_describe_path(operation.path), *_describe_query(operation.query, schema_by_type, components)],
        "responses": {
            "200": {
                "description": "Events, each as one JSON object." if operation.is_stream else "Done.",
                "content": {
                    "text/event-stream" if operation.is_stream else "application/json": {
                        "schema": schema_by_type[operation.answer]
                    }
                },
            },
            "default": {
                "description": "It could not be done; the answer says why.",
                "content": {"application/json": {"schema": schema_by_type[ErrorOutput]}},
            },
        },
    }
    if operation.body is not None:
        content = {"application/json": {"schema": schema_by_type[operation.body]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _describe_path(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PATH_VARIABLE.findall(path)
    ]


def _describe_query(
    query: type[msgspec.Struct] | None, schema_by_type: Mapping[Any, dict[str, Any]], components: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Returns a parameter for each field of the query's structure."""
    if query is None:
        return []
    schema = components[schema_by_type[query]["$ref"].rpartition("/")[2]]
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": described}
        for name, described in schema["properties"].items()
    ]
