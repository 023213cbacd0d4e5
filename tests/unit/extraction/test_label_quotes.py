"""What the labels keep of other people's sessions: quotes alone, short, without secrets."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lerim.redaction.redact import redact_secrets

EVALS = Path(__file__).parents[3] / "evals"
FILES = sorted(path.relative_to(EVALS).as_posix() for path in EVALS.rglob("*.jsonl"))


def quotes(value: object) -> Iterator[str]:
    """All texts under the keys `said` and `quote`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("said", "quote") and isinstance(inner, str):
                yield inner
            else:
                yield from quotes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from quotes(inner)


@pytest.mark.parametrize("name", FILES)
def test_every_quote_is_short_and_holds_no_secret(name: str) -> None:
    lines = (EVALS / name).read_text("utf-8").splitlines()
    found = [quote for line in lines for quote in quotes(json.loads(line))]
    assert found
    assert [quote for quote in found if len(quote) > 200] == []
    assert [quote for quote in found if redact_secrets(quote).spans] == []
