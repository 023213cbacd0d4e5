"""What a sentence says is used no more: names that a new choice stands in place of."""

import pytest

from lerim.extraction.facts.extract import extract_from_prompt, extract_from_response
from lerim.extraction.facts.superseded_names import find_superseded_names


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("From now on use pnpm for installs, we don't use yarn any more.", ("yarn",)),
        ("We no longer use `os.path` here.", ("os.path",)),
        ("Use pnpm, no longer yarn.", ("yarn",)),
        ("yarn is no longer used.", ("yarn",)),
        ("It replaces yarn.", ("yarn",)),
        ("Let's replace yarn with pnpm.", ("yarn",)),
        ("moment.js was replaced by date-fns.", ("moment.js",)),
        ("We switched from yarn to pnpm, so use pnpm.", ("yarn",)),
        ("We are moving away from Redis.", ("Redis",)),
        ("Drop yarn, from now on use pnpm for installs.", ("yarn",)),
        ("We dropped yarn and moved from npm to pnpm.", ("npm", "yarn")),
        ("Do not drop yarn, use it for installs.", ()),
        ("Never switch from yarn to pnpm.", ()),
        ("Don't replace yarn with pnpm.", ()),
        ("Use pnpm for installs.", ()),
        ("Use pnpm instead of yarn.", ()),
        ("Drop the table before each test.", ()),
        ("Move from left to right.", ()),
        ("Replace it with a loop.", ()),
        ("It is no longer needed.", ()),
        ("drop " * 5_000, ()),
        ("a" * 100_000, ()),
        ("a.b" * 30_000 + " is", ()),
    ],
)
def test_names_that_are_given_up(sentence: str, names: tuple[str, ...]) -> None:
    assert tuple(sorted(find_superseded_names(sentence))) == names


def test_they_are_what_a_persons_fact_supersedes() -> None:
    facts = extract_from_prompt("Read src/a.py.\nFrom now on use pnpm for installs, we don't use yarn any more.", 4)
    assert [(one.entity, one.relation, one.supersedes, one.source_turn) for one in facts] == [
        ("user", "decided", ("yarn",), 4)
    ]


def test_they_are_what_a_decision_of_the_agent_supersedes() -> None:
    facts = extract_from_response("I'll use SQLite for the cache; it replaces Redis. Nothing else.", 7)
    assert [(one.relation, one.supersedes) for one in facts] == [("decided", ("Redis",))]
