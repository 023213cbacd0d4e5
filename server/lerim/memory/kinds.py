"""What a name is a name of: `Postgres` answers “which database”, `Celery` does not.

Only kinds that are asked for often, and names that leave no doubt. What is not here answers a “which” only where the
claim says the kind itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from lerim.memory.claim import is_number, stem
from lerim.memory.contrast import read

_NAMED = """
    database, data store: postgres postgresql mysql mariadb sqlite duckdb mongodb cockroachdb clickhouse cassandra
    dynamodb redis valkey neo4j
    queue, broker, message broker: redis valkey rabbitmq kafka nats sqs
    cache: redis valkey memcached
    language, programming language: python rust go golang typescript javascript java kotlin swift ruby php scala
    elixir haskell zig perl lua bash c c++ c#
    installer, package manager: uv pip pipx poetry pdm conda npm pnpm yarn bun
    linter: ruff flake8 pylint eslint biome oxlint clippy golangci-lint rubocop stylelint
    formatter: ruff black prettier biome gofmt rustfmt dprint yapf
    type checker: mypy pyright pyre
    bundler: webpack esbuild vite rollup parcel rspack
    test runner, test framework: pytest unittest jest vitest mocha ava
    web framework: django flask fastapi starlette express koa hono rails laravel
    format, file format: json jsonl yaml toml xml csv parquet protobuf
    license, licence: mit apache-2.0 gpl-3.0 agpl-3.0 lgpl-3.0 mpl-2.0 bsd-2-clause bsd-3-clause isc
"""
_NUMBERED = frozenset({"version", "port"})


def _table() -> dict[str, frozenset[str]]:
    """The names of each kind, by the kind's stemmed words. A line without a colon goes on with the one before."""
    found: dict[str, list[str]] = {}
    kinds: list[str] = []
    for line in _NAMED.strip().splitlines():
        head, colon, names = line.strip().partition(":")
        if colon:
            kinds = [" ".join(map(stem, kind.split())) for kind in head.split(",")]
        for kind in kinds:
            found.setdefault(kind, []).extend((names if colon else head).split())
    return {kind: frozenset(names) for kind, names in found.items()}


_OF_KIND = _table()


def implied(kind: Sequence[str]) -> frozenset[str]:
    """The words of a kind that a claim need not say, where it gives one: of a number it says what it is a number of."""
    numbered = bool(kind) and kind[-1].removesuffix("s") in _NUMBERED
    return read(" ".join(kind[-1:] if numbered else kind), "").bare.title


def of_kind(kind: Sequence[str], value: str) -> bool:
    """Whether a name or number is of the kind that these words name, in order and in lower case (`test`, `runner`)."""
    if kind and kind[-1].removesuffix("s") in _NUMBERED:
        return is_number(value)
    stems = [stem(word) for word in kind]
    names = _OF_KIND.get(" ".join(stems[-2:]), frozenset()) or _OF_KIND.get(" ".join(stems[-1:]), frozenset())
    return value.lower().strip("`") in names
