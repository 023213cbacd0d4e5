"""What a candidate is to the memories there are."""

from datetime import UTC, datetime, timedelta

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory.claim import claim, similarity
from lerim.memory.reconcile import decide
from lerim.memory.record import Evidence, MemoryRecord

NOW = datetime(2026, 8, 1, tzinfo=UTC)


def memory(title: str, body: str, days: int = 0) -> MemoryRecord:
    time = NOW + timedelta(days=days)
    return MemoryRecord("20260801-x", "decision", title, time, time, "claude:s#t", 0.8, (), body)


def candidate(title: str, body: str, **more: object) -> Candidate:
    fields: dict[str, object] = {
        "primitive": "decision",
        "kind": None,
        "title": title,
        "body": body,
        "confidence": 0.8,
        "tags": (),
        "references": (),
        "evidence": (Evidence("q", "t2", "user"),),
        "platform": "claude",
        "session": "s",
        "turn": "t2",
        "time": NOW + timedelta(days=1),
        "signal": "choice",
    }
    return Candidate(**{**fields, **more})  # type: ignore[arg-type]


BODY = "Uploads to the archive bucket are retried by `upload.py`."


@pytest.mark.parametrize(
    ("title", "body", "wanted"),
    [
        ("Retry uploads 3 times", BODY, "noop"),
        ("Always retry uploads 3 times", BODY, "noop"),
        ("Retry uploads 5 times", BODY, "update"),
        ("Do not retry uploads 3 times", BODY, "update"),
        ("Retry uploads 3 times", BODY.replace("upload.py", "sync.py"), "update"),
        ("Name test files after the module", "So `test_app.py` tests `app.py`.", "add"),
    ],
)
def test_nothing_new_a_change_or_something_new(title: str, body: str, wanted: str) -> None:
    assert decide(candidate(title, body), [memory("Retry uploads 3 times", BODY)]).action == wanted


def test_a_reversal_is_another_claim_about_the_same() -> None:
    one, other = claim("Use uv, not pip", ""), claim("Use pip, not uv", "")
    assert similarity(one, other) == 0
    assert decide(candidate("Use pip, not uv", ""), [memory("Use uv, not pip", "")]).action == "update"


def test_the_later_turn_wins_whenever_it_was_synced() -> None:
    later = memory("Retry uploads 5 times", BODY, days=9)
    assert decide(candidate("Retry uploads 3 times", BODY), [later]).action == "noop"


def test_another_primitive_is_no_neighbour() -> None:
    found = decide(
        candidate("Retry uploads 3 times", BODY, primitive="learning"), [memory("Retry uploads 3 times", BODY)]
    )
    assert found.action == "add"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use uv, not pip", "Always use uv instead of pip"),
        ("Use uv, not pip", "Prefer uv over pip"),
        ("Never commit generated files", "Don't commit generated files"),
    ],
)
def test_light_rewording_is_the_same_claim(one: str, other: str) -> None:
    assert similarity(claim(one, ""), claim(other, "")) == 1
