"""Finds what a memory asks for, as far as code can see it in the commands that an agent runs and the text that it
writes.

"Use pnpm instead of npm" names a thing to use and a thing that is given up; "`pytest` needs `--no-cov`" names a
command and what belongs to it. A memory that names neither asks for nothing that code could recognize, and is never
judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from lerim.memory import MemoryRecord, strip_boilerplate
from lerim.sessions import FileEdit, Turn

Judgment: TypeAlias = Literal["followed", "contradicted"]
MAX_TEXT_CHARS = 20_000
"""Maximum number of characters of a command or of one edit that are examined."""
MAX_BODY_CHARS, MAX_LINE_CHARS = 2_000, 400
_NAME = r"(?:`[^`\n]{1,80}`|[@$./]{0,3}\w[\w.+#/@:$-]{0,60})"
_FILLER = r"(?:(?:using|use|the|a|an|running|calling)\s+){0,2}"
_REPLACING = r"(?:\s*,?\s*(?:and\s+)?(?:instead\s+of|rather\s+than|in\s+place\s+of|over|not|never)\s+)"
_USE = r"(?:use|using|run|prefer|call|import|choose|chose|adopt|write)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\binstead\s+of\s+{_FILLER}(?P<old>{_NAME})\s*,\s*(?:please\s+)?{_USE}\s+{_FILLER}(?P<new>{_NAME})",
        rf"\b{_USE}\s+{_FILLER}(?P<new>{_NAME})(?:\s[^.;!?\n]{{0,80}}?)?{_REPLACING}{_FILLER}(?P<old>{_NAME})",
        rf"(?P<new>`[^`\n]{{1,80}}`){_REPLACING}{_FILLER}(?P<old>{_NAME})",
        rf"\breplaced?\s+{_FILLER}(?P<old>{_NAME})\s+(?:with|by)\s+{_FILLER}(?P<new>{_NAME})",
        rf"\b(?:switch|switched|move|moved|migrate|migrated|change|changed)\s+from\s+(?P<old>{_NAME})\s+to\s+(?P<new>{_NAME})",
    )
)
_FORBIDDING = re.compile(
    r"\b(?:don['’]?t|do\s+not|never|no\s+longer|stop|avoid|must\s+not|should\s+not)\s+(?:ever\s+)?"
    rf"(?:use|using|run|running|call|calling|import|importing|add|adding)\s+{_FILLER}(?P<old>{_NAME})",
    re.IGNORECASE,
)
_NEEDING = re.compile(r"`(?P<command>[^`\n]{2,120})`\s+needs\s+`(?P<part>[^`\n]{1,60})`(?P<set>\s+to\s+be\s+set)?")
_RUNNING = re.compile(r"^(?:always\s+)?(?:run|use)\s+(?P<new>`[^`\n]{2,120}`)", re.IGNORECASE)
_USING = re.compile(rf"^(?:please\s+)?(?:always\s+)?(?:use|prefer)\s+{_FILLER}(?P<new>{_NAME})", re.IGNORECASE)
_CODE_LIKE = re.compile(r"[^A-Za-z]|[a-z][A-Z]")
_AFTER_NAME = re.compile(
    r"\s*(?:$|[.,;:!?)]|(?:anywhere|anymore|any\s+more|as|at|because|everywhere|for|from|here|if|in|on|since|so|to|when|with)"
    r"\b)"
)
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"^(?:[A-Z_][A-Z0-9_]*=\S*\s+)+")
_READING_LIST = """
    awk ag cat cd echo find gh git grep head less ls man printf rg sed tail tree type wc which
"""
_READING = frozenset(_READING_LIST.split())
"""Programs that only search, read or print the things named after them."""
_IMPORTING = re.compile(
    r"^\s*(?:import|from|use|using|require|include|#include|const|let|var|export)\b|^\s*[\"'][\w@/.-]+[\"']\s*[:,=]"
)
_PLAIN_WORD_LIST = """
    a all an any at both by code each end file files first for functions good in it its lines more name new no of on one
    other our own same that the their them these they this those time to two up us we what when with words you
"""
_PLAIN_WORDS = frozenset(_PLAIN_WORD_LIST.split())
_COMMAND_WORDS = 3
"""A plain word counts as used in a command if it is among its first words: the program, or what it runs or adds."""


@dataclass(frozen=True, slots=True)
class Practice:
    """What a memory asks for. `wanted` are the names that an action must have to follow it (none: the memory only
    names what is given up), `given_up` the names that an action against it has. `must_pass`: only a command that
    succeeded follows it."""

    wanted: tuple[str, ...]
    given_up: tuple[str, ...] = ()
    must_pass: bool = False


@dataclass(frozen=True)
class AgentAction:
    """Something an agent did: a command it ran, or text it added to a file."""

    text: str
    is_command: bool
    has_passed: bool

    def may_use(self, name: str) -> bool:
        """Returns whether the beginning of a name is in the text at all. This is much faster than searching for the
        name's pattern."""
        return name.split(maxsplit=1)[0].lower() in self.lower

    @cached_property
    def lower(self) -> str:
        """The text of the action in lower case."""
        return self.text.lower()


def find_practice(record: MemoryRecord) -> Practice | None:
    """Returns what a memory asks for, according to its title, or else to its body; None if code cannot determine it."""
    if record.primitive not in ("decision", "learning"):
        return None
    lines = strip_boilerplate(record.body[:MAX_BODY_CHARS]).splitlines()
    for text in (record.title, *lines):
        # runs of white space would make the patterns slow
        if (practice := _find_in_text(" ".join(text[:MAX_LINE_CHARS].split()))) is not None:
            return practice
    return None


def list_actions(turns: Iterable[Turn]) -> Iterator[AgentAction]:
    """Yields the actions in these turns, in order, except those that were refused or had no effect."""
    for turn in turns:
        for call in turn.tool_calls:
            if call.status not in ("ok", "error"):
                continue
            if call.kind == "shell" and call.command:
                passed = call.status == "ok" and not call.exit_code
                yield AgentAction(call.command[:MAX_TEXT_CHARS], True, passed)
            elif call.status == "ok":
                yield from (AgentAction(added, False, True) for edit in call.edits if (added := _added_text(edit)))


def judge_actions(practice: Practice, actions: Sequence[AgentAction]) -> Judgment | None:
    """Returns whether the actions follow a practice or contradict it; None if neither can be seen. A single action
    against it is enough to contradict it, however many follow it."""
    follows = False
    for action in actions:
        is_wanted = bool(practice.wanted) and all(_is_used(name, action) for name in practice.wanted)
        if practice.given_up and not (is_wanted and set(practice.given_up) <= set(practice.wanted)):
            rest = _without(action, practice.wanted, practice.given_up)
            if all(_is_used(name, rest) for name in practice.given_up):
                return "contradicted"
        follows |= is_wanted and (action.has_passed or not practice.must_pass)
    return "followed" if follows else None


def _find_in_text(text: str) -> Practice | None:
    if needing := _NEEDING.search(text):
        part = f"{needing['part']}=" if needing["set"] else needing["part"]
        return Practice((needing["command"], part), (needing["command"],), must_pass=True)
    for form in _FORMS:
        for found in form.finditer(text):
            new, old = _read_name(found, "new"), _read_name(found, "old")
            if new and old and new.lower() != old.lower():
                return Practice((new,), (old,))
    if forbidding := _FORBIDDING.search(text):
        old = _read_name(forbidding, "old")
        return Practice((), (old,)) if old else None
    if running := _RUNNING.search(text):
        return Practice((" ".join(running["new"].strip("`").split()),), must_pass=True)
    using = _USING.search(text)
    new = _read_name(using, "new") if using else ""
    return Practice((new,)) if new and _CODE_LIKE.search(new) else None


def _read_name(found: re.Match[str], group: str) -> str:
    """Returns the name in a group without code marks. Returns "" if it names nothing: for a common word, and for a
    word that is only the beginning of a name ("default exports")."""
    written = found[group]
    name = " ".join(written.strip("`").split()).rstrip(".,:;-/")
    if len(name) < 2 or name.lower() in _PLAIN_WORDS:
        return ""
    is_whole = written.startswith("`") or _CODE_LIKE.search(name) or group == "new"
    return name if is_whole or _AFTER_NAME.match(found.string, found.end(group)) else ""


def _added_text(edit: FileEdit) -> str:
    """Returns the lines that an edit added."""
    if not edit.old:
        return edit.new[:MAX_TEXT_CHARS]
    before = set(edit.old[:MAX_TEXT_CHARS].splitlines())
    return "\n".join(line for line in edit.new[:MAX_TEXT_CHARS].splitlines() if line not in before)


def _is_used(name: str, action: AgentAction) -> bool:
    """Returns whether an action uses the thing with this name. A plain word could be anything in prose, so it counts
    only as a program, as an argument near it, or in a line that imports or lists it."""
    if not action.may_use(name):
        return False
    pattern = _name_pattern(name)
    if not pattern.search(action.text):
        return False
    if action.is_command:
        return any(pattern.search(part) for part in _command_parts(action.text, name))
    if _CODE_LIKE.search(name):
        return True
    return any(_IMPORTING.search(line) and pattern.search(line) for line in action.text.splitlines())


def _command_parts(text: str, name: str) -> Iterator[str]:
    """Yields the parts of a command line that use a name rather than only read or search it."""
    is_code = bool(_CODE_LIKE.search(name))
    for part in _SEPARATOR.split(text):
        plain = part.strip() if "=" in name else _ASSIGNMENT.sub("", part.strip())
        words = plain.split()
        program = words[0].rpartition("/")[2] if words else ""
        if program in _READING and program != name.split(maxsplit=1)[0].lower():
            continue
        yield plain if is_code else " ".join(words[:_COMMAND_WORDS])


def _name_pattern(name: str) -> re.Pattern[str]:
    body = r"\s+".join(map(re.escape, name.split()))
    if name.startswith("-"):
        return re.compile(rf"(?<!\S){body}(?![\w-])", re.IGNORECASE)
    end = "" if name.endswith("=") else r"(?![\w-]|\.\w)"
    return re.compile(rf"(?<![\w./-]){body}{end}", re.IGNORECASE)


def _without(action: AgentAction, wanted: Sequence[str], given_up: Sequence[str]) -> AgentAction:
    """Returns an action without those wanted names that contain a given-up name: `uv run pytest` does not use
    `pytest` alone."""
    text = action.text
    for name in wanted:
        if any(old != name and _name_pattern(old).search(name) for old in given_up):
            text = _name_pattern(name).sub(" ", text)
    return action if text == action.text else AgentAction(text, action.is_command, action.has_passed)
