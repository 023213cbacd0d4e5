"""Collects the words that a session uses as names: the programs it ran and the files it touched, read or printed."""

from __future__ import annotations

import re
from functools import lru_cache

from lerim.extraction.facts import commands
from lerim.patterns import compile_later
from lerim.sessions import Turn

MAX_NAMES = 400
_NOT_NAMES = (
    "test tests run index main build docs src lib app utils types config setup start server client new list data "
    "base common core make code file files output input user users name names style styles page home model models "
    "view views api web all check update add get set use readme license license.md notes plan plans todo error "
    "errors report review search session sessions time copy random string strings path paths util events http url "
    "queue signal testing context log sort math email calendar select platform secrets statistics warnings inspect "
    "resource profile process buffer stream cluster crypto assert module console fmt os re sys io abc token tokens "
    "logger future annotations typing helpers helper shared local internal package project service services store "
    "state status result results value values event message messages request response handler handlers item items "
    "total number first last next this that with from into when here done good work change changes fix fixes issue "
    "issues feature features bug any each every always never only must should would could please sure thing things "
    "way team person people true false none null self super import export default return class const function async "
    "await let var def pages screen button form table row column field fields line lines text title body head "
    "header footer link links image images icon icons color colors size width height left right top bottom key keys "
    "type kind mode level step steps task tasks job jobs runs builds release version versions note place order "
    "orders invoice customer account group groups member role comment comments doc tag tags label labels option "
    "options skill skills "
)
_COMMON_WORDS = frozenset(_NOT_NAMES.split())
_WORD = compile_later(r"^[a-z][a-z0-9_.-]{2,40}$")
_IMPORT = compile_later(
    r"^[ \t]{0,20}(?:import|from|require|require_once|#include)[ \t(]{1,3}[\"'<{]?(?P<name>[@\w./-]{2,60})|"
    r"\b(?:from|require|import)[ (]{1,2}[\"'](?P<module>[@\w./-]{2,60})[\"']",
    re.MULTILINE,
)
_CODE = compile_later(
    r"\.(?:pyi?|[cm]?[jt]sx?|go|rs|java|kts?|rb|php|[ch](?:c|cc|pp|xx)?|cs|swift|scala|vue|svelte|dart|exs?|lua|sh)$"
)
_FRAGMENT = compile_later(r"^[A-Za-z_][\w.]{3,40}(?:\(\))?$")
_TESTED = compile_later(r"(?:^|[/_.-])(?:tests?|specs?|__tests__)(?=$|[/_.-])")
_RUNS_TESTS = compile_later(
    r"(?:^|\s)(?:py\.?test|vitest|jest|mocha|rspec|phpunit|tox|ctest|unittest)\b|\b(?:go|cargo|npm|pnpm|yarn|bun|"
    r"make|mise|"
    r"dotnet|mix|deno|task|just|gradle|gradlew|mvn|rake|swift|zig)\s(?:run\s)?test"
)
TEST_PREFIX = "tests:"
"""Marks in the known words that the session ran or wrote tests. No word of a text can be equal to it."""
MAX_FILES = 8
_SHOWS = compile_later(r"^(?:cat|bat|nl|head|tail|less|more|type|Get-Content|gc|sed\s{1,3}-n)\s(?P<rest>[^\n]{1,600})$")
_PART = compile_later(r"&&|\|\||[;|\n]")
_SHELL_WORD = compile_later(r"\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^\s\"'<>]{1,300}")
_FILE = compile_later(r"(?:^|[/\\])[\w.@ -]{0,80}\.?\w{1,20}$")
_SCRIPT = compile_later(r"^[\d,$;pq+~]{1,40}$")
"""Arguments of `sed -n` or `head -n`, which are not files."""


def add_known_names(known: list[str], turn: Turn) -> list[str]:
    """Returns the known words with those of this turn added, the newest last, at most `MAX_NAMES`."""
    fresh: list[str] = []
    for call in turn.tool_calls:
        if call.kind == "shell" and call.command:
            command = commands.parse_command(call.command)
            if command.is_project_command:
                fresh.append(command.words[0].lower())
            fresh += [name.lower() for name in commands.installed_packages(command.text)]
            if _RUNS_TESTS.search(command.text[:300]):
                fresh.append(TEST_PREFIX)
        for path in (*call.paths[:4], *(find_shown_files(call.command) if call.kind == "shell" else ())):
            *folders, base = path.replace("\\", "/").lower().split("/")
            fresh += [base, base.rpartition(".")[0] or base, *folders[-1:]]
            if call.kind in ("edit", "write") and _TESTED.search("/".join([*folders[-2:], base])):
                fresh.append(TEST_PREFIX)
        for edit in call.edits[:8] if _CODE.search(call.paths[0] if call.paths else "") else ():
            fresh += [*_find_code_names(edit.old), *_find_code_names(edit.new)]
    new = [
        word
        for word in dict.fromkeys(fresh)
        if word == TEST_PREFIX or (word not in _COMMON_WORDS and _WORD.match(word))
    ]
    new = [word for word in new if word not in known]
    return [*known, *new][-MAX_NAMES:] if new else known


def _find_code_names(code: str) -> list[str]:
    """Returns the names that a piece of code imports, or the piece itself if it is a single name."""
    if _FRAGMENT.match(code):
        return [part for part in code.lower().rstrip("()").split(".") if len(part) > 3] + [code.lower().rstrip("()")]
    found = [(match["name"] or match["module"]).lower() for match in _IMPORT.finditer(code[:2_000])]
    return [part for name in found[:12] for part in (name, name.split(".")[0], name.rsplit("/", 1)[-1])]


@lru_cache(maxsize=64)
def find_shown_files(command: str) -> tuple[str, ...]:
    """Returns the files that `cat`, `sed -n`, `head` and similar commands print, as written; () if the command
    redirects."""
    shown: dict[str, None] = {}
    text = commands.parse_command(command).text[:2_000]
    for part in _PART.split(text) if ">" not in text and "<<" not in text else ():
        match = _SHOWS.match(part.strip())
        if match is None:
            continue
        words = [word.strip("\"'") for word in _SHELL_WORD.findall(match["rest"])]
        shown |= dict.fromkeys(
            word for word in words if word[:1] != "-" and not _SCRIPT.match(word) and _FILE.search(word)
        )
    return tuple(shown)[:MAX_FILES]
