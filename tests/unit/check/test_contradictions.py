"""Rules files that say the opposite of a memory: made-up pairs, and what the rule promises about them."""

from __future__ import annotations

import pytest

from lerim.check.contradictions import index_rules_files
from lerim.rules_files import RulesLine

OPPOSITE = [
    ("Use tabs for indentation", "Use spaces for indentation"),
    ("Use tabs", "Use spaces."),
    ("Never mock the database in integration tests", "Mock the database in tests."),
    ("Always run the tests before committing", "Run the tests after committing."),
    ("Commit generated files", "Do not commit generated files"),
    ("Use single quotes in JavaScript", "Use double quotes"),
    ("Don't use default exports", "Use default exports in modules."),
    ("We rebase feature branches onto main", "Merge feature branches into main, never rebase them."),
    ("Avoid global state in services", "Use global state"),
    ("Keep the config file immutable", "The config file is mutable"),
    ("Log errors without stack traces", "Log errors with stack traces."),
    ("Use Decimal for money", "Never use Decimal for money; floats are fast enough."),
    ("Private methods start with an underscore", "Private methods do not start with an underscore."),
    ("Use async handlers instead of threads", "Handlers are sync."),
    ("Imports are relative inside a package", "Imports are absolute inside a package."),
    ("Pin dependencies exactly", "Dependencies are never pinned."),
    ("Use uv, not pip", "Use pip instead of uv."),
    ("Install packages with pnpm rather than npm", "Use npm instead of pnpm to install packages."),
]
ALIKE = [
    ("Use tabs for indentation", "Indentation uses tabs."),
    ("Do not commit generated files", "Commit lock files."),
    ("Never push directly to the main branch", "Push directly to the feature branch."),
    ("Do not use print for logging", "Use logging for errors."),
    ("Never edit migrations by hand", "Edit the changelog by hand."),
    ("Use tabs instead of spaces", "Use tabs, not spaces."),
    ("Avoid mocks in integration tests", "Use mocks in unit tests."),
    ("Use Decimal for money", "Never use float for money."),
    ("Run the linter before pushing", "Run the tests before pushing."),
    ("Never log secrets", "Do not log secrets."),
    ("Use async handlers", "Never block the event loop."),
    ("Do not deploy on Fridays", "Deploy with make deploy."),
    ("Tests use a real database", "The database is Postgres."),
    ("Single source of truth for prices", "Two sources of truth are forbidden."),
    ("Functions return values, not None", "Functions never return None."),
    ("Retry three times", "Do not retry POST requests."),
    ("Use uv instead of pip", "Use uv, not pip, for packages."),
    ("Use uv, not pip", "Use uv instead of poetry."),
    ("Use fixtures, not mocks, in unit tests", "Use mocks, not fixtures, in integration tests."),
]


def contradicts(memory: str, rule: str) -> bool:
    return index_rules_files([RulesLine("AGENTS.md", 1, rule)]).find_contradiction(memory) is not None


def test_four_of_five_contradictions_are_found() -> None:
    missed = [pair for pair in OPPOSITE if not contradicts(*pair)]
    assert len(missed) <= len(OPPOSITE) / 5, missed


@pytest.mark.parametrize(
    "rule", ["Never use uv instead of pip.", "Do not use uv rather than pip.", "Use pip instead of uv."]
)
def test_what_is_preferred_is_refused_or_the_other_way_round(rule: str) -> None:
    assert contradicts("Use uv instead of pip", rule)
    assert not contradicts("Never use uv instead of pip", "Use pip instead of uv.")


@pytest.mark.parametrize(("memory", "rule"), ALIKE)
def test_what_only_sounds_alike_is_no_contradiction(memory: str, rule: str) -> None:
    assert not contradicts(memory, rule)


def test_the_nearest_of_several_lines_is_named() -> None:
    lines = ["Write short functions.", "Never mock the database in slow tests.", "Never mock the database."]
    index = index_rules_files(RulesLine("AGENTS.md", number, text) for number, text in enumerate(lines, 1))
    found = index.find_contradiction("Tests\nWe decided: mock the database.")
    assert found == RulesLine("AGENTS.md", 3, "Never mock the database.")
