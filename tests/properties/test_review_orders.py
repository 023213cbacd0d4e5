"""In whatever order sessions are read and candidates accepted, the same claims end active."""

import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lerim.errors import StaleError
from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence, Primitive
from lerim.paths import Home
from lerim.project import Project
from lerim.review import queue
from lerim.review.place import Place

CHAIN = [("npm", "yarn"), ("pnpm", "npm"), ("bun", "pnpm")]
START = datetime(2026, 8, 1, tzinfo=UTC)
CLAIMS: list[tuple[Primitive, str, str, tuple[str, ...]]] = [
    ("decision", "Keep lines within 72 columns", "The linter in `ruff.toml` holds it.", ()),
    ("decision", "Keep lines within 88 columns", "The linter in `ruff.toml` holds it.", ()),
    ("decision", "Keep lines within 100 columns", "The linter in `ruff.toml` holds it. Docs are exempt.", ()),
    ("decision", "Use pip, not uv, for installs", "Installs go through `pip install -r requirements.lock`.", ("uv",)),
    ("decision", "Use uv, not pip, for installs", "Installs go through `uv pip sync requirements.lock`.", ("pip",)),
    ("decision", "Use poetry, not uv, for installs", "Installs go through `poetry install`.", ("uv",)),
    ("decision", "Use poetry for installs", "It is `poetry install` in `ci.yml`.", ("pip", "uv")),
    ("decision", "Use pdm for all installs", "It is `pdm install` in `ci.yml`.", ("poetry",)),
    ("decision", "Store money as integer cents", "Amounts in `src/money.py` are `int`.", ()),
    ("decision", "Never store money as integer cents", "Amounts in `src/money.py` are `Decimal`.", ()),
    ("learning", "The cache in `src/cache.py` is not thread safe", "Two workers wrote the same key.", ()),
    ("question", "Should installs use uv or pip?", "Nobody said yet; `requirements.lock` is there.", ()),
    ("question", "Should money be stored as integer cents?", "`src/money.py` has both.", ()),
]


def candidate(which: int, minute: int) -> Candidate:
    primitive, title, body, replaces = CLAIMS[which]
    turn = f"t{minute}"
    return Candidate(
        primitive=primitive,
        kind="pitfall" if primitive == "learning" else None,
        title=title,
        body=body,
        confidence=0.8,
        tags=(),
        references=(),
        evidence=(Evidence(f"say {title}", turn, "user"),),
        platform="claude",
        session=f"s{minute}",
        turn=turn,
        time=START + timedelta(minutes=minute),
        signal="reply",
        replaces=replaces,
    )


def ends(said: list[Candidate], chance: Random, every: float) -> list[str]:
    """The titles that are active after the claims were read in this order; accepted at once now and then, and at the
    end in whatever order."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "repo"
        root.mkdir()
        place = Place(Project("0123456789abcdef", root, root, root / ".git", "", "repo"), Home(base / "home"))
        for one in said:
            queue.propose(place, one)
            if chance.random() < every:
                accept_all(place, chance)
        accept_all(place, chance)
        stored, problems = place.store().load_all(archived=True)
        assert problems == []
        ids = {one.record.id: one for one in stored}
        for one in stored:  # links are symmetric, whatever was done
            for old in one.record.supersedes:
                assert ids[old].record.superseded_by == one.record.id
            for question in one.record.resolves:
                assert ids[question].record.resolved_by == one.record.id
        return sorted(one.record.title for one in stored if one.status == "active")


def accept_all(place: Place, chance: Random) -> None:
    for _ in range(60):
        waiting = queue.pending(place)[0]
        if not waiting:
            return
        try:
            queue.accept(place, chance.choice(waiting).id, quotes="shared")
        except StaleError:
            continue
    raise AssertionError("what waits never ends")


@given(
    said=st.lists(st.integers(0, len(CLAIMS) - 1), min_size=2, max_size=6),
    seed=st.integers(0, 2**32),
    every=st.sampled_from([0.0, 0.4, 1.0]),
)
@settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_the_order_of_sessions_and_of_accepting_decides_nothing(said: list[int], seed: int, every: float) -> None:
    chance = Random(seed)
    in_order = [candidate(which, minute) for minute, which in enumerate(said)]
    expected = ends(in_order, Random(0), 1.0)
    mixed = chance.sample(in_order, len(in_order))
    assert ends(mixed, chance, every) == expected


def test_of_a_chain_of_choices_the_last_alone_is_left_in_any_order() -> None:
    said = [
        replace(
            candidate(0, at), title=f"Use {new}, not {old}", body=f"No, use {new} instead of {old}.", replaces=(old,)
        )
        for at, (new, old) in enumerate(CHAIN)
    ]
    for seed, order in enumerate(permutations(said)):
        for every in (0.0, 1.0):
            assert ends(list(order), Random(seed), every) == ["Use bun, not pnpm"], (order, every)


NEAR = [
    "Use yarn",
    "Use yarn for installs",
    "Use yarn for installs, never npm",
    "Use yarn, not npm",
    "Never use npm",
    "Retry uploads",
    "Retry uploads 3 times",
    "Retry uploads to the bucket",
]


def near(which: int, minute: int) -> Candidate:
    return replace(candidate(0, minute), title=NEAR[which], body="", replaces=())


@pytest.mark.parametrize(
    ("first", "then"), [(0, 1), (1, 0), (0, 2), (2, 0), (3, 0), (0, 3), (5, 6), (6, 5), (5, 7), (7, 5)]
)
def test_of_two_claims_one_of_which_says_more_none_is_lost_in_any_order(first: int, then: int) -> None:
    said = [near(first, 0), near(then, 1)]
    expected = ends(said, Random(0), 1.0)
    assert expected
    for every in (0.0, 1.0):
        assert ends(said[::-1], Random(1), every) == expected


@given(
    said=st.lists(st.integers(0, len(NEAR) - 1), min_size=2, max_size=3, unique=True),
    seed=st.integers(0, 2**32),
    every=st.sampled_from([0.0, 1.0]),
)
@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_the_order_of_claims_that_say_more_or_less_decides_nothing(said: list[int], seed: int, every: float) -> None:
    chance = Random(seed)
    in_order = [near(which, minute) for minute, which in enumerate(said)]
    expected = ends(in_order, Random(0), 1.0)
    assert ends(chance.sample(in_order, len(in_order)), chance, every) == expected
