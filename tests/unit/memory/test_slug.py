"""Ids are readable and safe in every script and system."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.slug import is_id, make_slug, new_id


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("Use uv, not pip!", "use-uv-not-pip"),
        ("Größe über Æther: naïve café", "grosse-uber-aether-naive-cafe"),
        ("Не использовать pip", "не-использовать-pip"),
        ("使用 uv 代替 pip", "使用-uv-代替-pip"),
        ("हिन्दी में", "हिन्दी-में"),
        ("don't", "dont"),
        ("!!!", "memory"),
        ("", "memory"),
        ("CON", "con-memory"),
        ("../../etc/passwd", "etc-passwd"),
        ("Łódź", "lodz"),
    ],
)
def test_a_title_becomes_a_readable_slug(title: str, wanted: str) -> None:
    assert make_slug(title) == wanted


@given(st.text(max_size=300))
def test_any_title_gives_an_id_that_every_system_takes_as_a_file_name(title: str) -> None:
    found = new_id(title, date(2026, 8, 1), lambda _: False)
    assert is_id(found), found
    assert len(found) <= 69 and len(found.encode()) <= 200
    assert is_id(found + "-12")


@pytest.mark.parametrize(
    "text", ["", ".", "..", ".x", "x.", "../x", "a/b", "a\\b", "c:x", "nul", "NUL.x", "a\n", "a\0", "x " * 200]
)
def test_what_is_no_id(text: str) -> None:
    assert not is_id(text)
