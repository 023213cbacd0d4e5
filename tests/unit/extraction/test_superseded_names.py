"""What a sentence says is used no more: names that a new choice stands in place of."""

import pytest

from lerim.extraction.facts.superseded_names import find_superseded_names, superseded_by_prompt, superseded_by_reply


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("From now on use pnpm for installs, we don't use yarn any more.", ("yarn",)),
        ("We no longer use `os.path` here.", ("os.path",)),
        ("Use pnpm, no longer yarn.", ("yarn",)),
        ("yarn is no longer used.", ("yarn",)),
        ("It replaces yarn.", ("yarn",)),
        ("moment.js was replaced by date-fns.", ("moment.js",)),
        ("We are moving away from Redis.", ("Redis",)),
        ("We dropped yarn and moved from npm to pnpm.", ("npm", "yarn")),
        ("Do not drop yarn, use it for installs.", ()),
        ("Use pnpm instead of yarn.", ()),
        ("Drop the table before each test.", ()),
        ("Replace it with a loop.", ()),
        ("drop " * 5_000, ()),
        ("a.b" * 30_000 + " is", ()),
    ],
)
def test_names_that_are_given_up(sentence: str, names: tuple[str, ...]) -> None:
    assert tuple(sorted(find_superseded_names(sentence))) == names


def test_a_persons_statements_and_an_agents_decisions_give_names_up_and_questions_do_not() -> None:
    said = "Read src/a.py.\nFrom now on use pnpm for installs, we don't use yarn any more. Do we no longer use npm?"
    assert list(superseded_by_prompt(said)) == ["yarn"]
    told = "I'll use SQLite for the cache; it replaces Redis. The page replaces nginx. Shall we drop npm?"
    assert list(superseded_by_reply(told)) == ["Redis"]
    for apostrophe in "'’":
        assert list(superseded_by_reply(f"Let{apostrophe}s use pnpm, which replaces yarn.")) == ["yarn"]
