"""A sentence that says the contrary of what it rests on is told from one that says it in other words."""

from __future__ import annotations

import pytest

from lerim.memory.contrary import contrary

TURNED = [
    ("Never use uv.", "Use uv, not pip"),
    ("Use pip, not uv.", "Use uv, not pip"),
    ("Use pip.", "Use uv, not pip"),
    ("Tests may touch the network.", "Tests must not touch the network"),
    ("Customer data may be deleted at any time.", "Never delete customer data"),
    ("The cache is thread safe.", "The cache in `src/cache.py` is not thread safe."),
    ("Deploys are allowed on Friday afternoon.", "Deploys on Friday are forbidden"),
    ("Services may use TLS.", "Services must use TLS"),
    ("Services must use TLS.", "Services may use TLS"),
    ("All endpoints need a token.", "Some endpoints need a token"),
    ("Keep at most 3 backups.", "Keep at least 3 backups"),
    ("Only admins can upload files.", "Admins can upload files"),
    ("The config file overrides environment variables.", "Environment variables override the config file"),
    ("Reads go to the primary, writes to the replica.", "Reads go to the replica, writes to the primary"),
    ("Comments say what, not why.", "Comments say why, not what"),
    ("The cache is on in tests.", "The cache is off in tests"),
]
HELD = [
    ("Do not use pip, use uv.", "Use uv, not pip"),
    ("Installs go through uv.", "Use uv, not pip, for installs"),
    ("uv is used instead of pip.", "Use uv, not pip"),
    ("Customer data must not be deleted.", "Never delete customer data"),
    ("Deploys are not allowed on Friday.", "Deploys on Friday are forbidden"),
    ("It is forbidden to delete customer data.", "Never delete customer data"),
    ("Amounts are cents, floats are never used.", "Amounts of `Money` are integer cents, never floats."),
    ("Amounts are integer cents.", "Amounts of `Money` are integer cents by agreement, never floats."),
    ("Environment variables win over the config file.", "Environment variables override the config file"),
    ("All installs go through uv.", "Installs go through uv"),
    ("Before a commit the linter runs.", "The linter runs before a commit."),
]


@pytest.mark.parametrize(("said", "source"), TURNED)
def test_what_turns_its_source_round_is_seen(said: str, source: str) -> None:
    assert contrary(said, [f"{source}\nIt was agreed in May."])


@pytest.mark.parametrize(("said", "source"), HELD)
def test_what_says_its_source_in_other_words_is_none(said: str, source: str) -> None:
    assert not contrary(said, [f"{source}\nIt was agreed in May."])
