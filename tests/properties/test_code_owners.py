"""CODEOWNERS files: the rules of GitHub and GitLab, and any text at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.project import parse_code_owners

FILE = r"""
# owners
*            @all
*.py         @py me@example.org   # a remark
docs/*       @writers
/build/logs/ @logs
apps/        @octo/apps
**/gen       @gen
/src/**/api  @api
/lib/**      @lib
/apps/github
my\ file.txt @space
[id].ts      @brackets-are-a-section
!docs/x.md   @nobody
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README", ["@all"]),
        ("src/a.py", ["@py", "me@example.org"]),
        ("docs/a.md", ["@writers"]),
        ("docs/x.md", ["@writers"]),
        ("docs/deep/a.md", ["@all"]),
        ("build/logs/a/b", ["@logs"]),
        ("x/build/logs/a", ["@all"]),
        ("x/apps/a.py", ["@octo/apps"]),
        ("apps/github/a", []),
        ("x/gen", ["@gen"]),
        ("gen/a/b", ["@gen"]),
        ("src/api/a", ["@api"]),
        ("src/a/b/api", ["@api"]),
        ("lib/a/b", ["@lib"]),
        ("lib", ["@all"]),
        ("my file.txt", ["@space"]),
    ],
)
def test_the_last_matching_pattern_counts(path: str, owners: list[str]) -> None:
    assert list(parse_code_owners(FILE).owners_of(path)) == owners


def test_each_section_of_gitlab_names_its_own_owners() -> None:
    rules = parse_code_owners(
        "* @all\n[Docs][2] @writers\n*.md\nREADME.md @ana\n^[Code]\n*.py @py\n[docs]\nlast.md @ben\n"
    )
    assert rules.owners_of("a.md") == ("@all", "@writers")
    assert rules.owners_of("README.md") == ("@all", "@ana")
    assert rules.owners_of("last.md") == ("@all", "@ben")
    assert rules.owners_of_any(["a.py", "b.md"]) == ("@all", "@py", "@writers")


@given(st.text(alphabet="*?/\\[]!#@ab .\n", max_size=60), st.text(alphabet="*?/\\[]ab .", max_size=20))
def test_any_text_is_parsed_and_asked_about(text: str, path: str) -> None:
    assert isinstance(parse_code_owners(text).owners_of(path), tuple)


@given(st.lists(st.text("ab. ", min_size=1, max_size=5), min_size=1, max_size=4))
def test_a_path_written_out_matches_itself_and_what_is_below(names: list[str]) -> None:
    path = "/".join(names)
    if path.startswith("#") or path != path.strip():
        return
    rules = parse_code_owners("/" + path.replace(" ", "\\ ") + " @ana")
    assert rules.owners_of(path) == rules.owners_of(f"{path}/x") == ("@ana",)
    assert rules.owners_of(f"x/{path}") == ()


def test_many_stars_take_no_time() -> None:
    rules = parse_code_owners("/".join(["*a" * 40, "**"] * 20) + " @ana")
    assert rules.owners_of("/".join(["a" * 200 + "b"] * 60)) == ()
