"""A summary and its form as the text of a memory: a sentence, then sections of statements that name their turns.

One sentence about the session.

## User intent
- The user asked: “use pnpm here”. [0a1b2c3d4e5f]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lerim.extraction.facts import join_names
from lerim.patterns import compile_later

INTENT_WORDS = 150
HAPPENED_WORDS = 200
OUTCOME_WORDS = 100
DESCRIPTION_WORDS = 50
SECTIONS = ("User intent", "What happened", "Outcome", "Files")
MAX_CITED_TURNS = 10
"""Maximum number of turns named after one statement."""

_UNSPACED = compile_later("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]")
_END = compile_later(r"(?<=[.!?…。！？])[”\"')\]]{0,2}\s+")
_ABOUT_PERSON = compile_later(
    r"(?:(?<=^)|(?<=^- )|(?<=[.”] ))The user(?P<owns>'s)?(?= (?:asked|wrote|said|last words): “| answered “)",
    re.MULTILINE,
)
_HEADING = compile_later(r"^##[ \t]+(.{1,80}?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One or a few sentences, and the ids of the turns they rest on."""

    text: str
    turns: tuple[str, ...]

    def line(self) -> str:
        """Returns the statement as a line of the memory."""
        turns = tuple(dict.fromkeys(self.turns))[:MAX_CITED_TURNS]
        return f"- {self.text} [{', '.join(turns)}]" if turns else f"- {self.text}"


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a session. `paths` are its changed files, the most frequently changed first."""

    title: str
    description: str
    intent: tuple[Statement, ...]
    happened: tuple[Statement, ...]
    outcome: tuple[Statement, ...]
    files: tuple[Statement, ...]
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def address_person(text: str) -> str:
    """Returns sentences about a session for the person who had it: “The user asked: …” becomes “You asked: …”. Files,
    which others may read, keep the neutral words."""
    return _ABOUT_PERSON.sub(lambda found: "Your" if found["owns"] else "You", text)


def count_words(text: str) -> int:
    """Returns the number of words in a text. In a script without spaces, each character counts as one word."""
    return len(text.split()) + len(_UNSPACED.findall(text))


def fit_statements(statements: Iterable[Statement], most: int) -> tuple[Statement, ...]:
    """Returns the statements that fit into `most` words, including the turns they name. The last one may be cut to
    fewer sentences."""
    out: list[Statement] = []
    left = most
    for statement in statements:
        size = count_words(statement.line())
        if size > left:
            short = _shorten_statement(statement, left)
            return (*out, *((short,) if short else ()))
        left -= size
        out.append(statement)
    return tuple(out)


def _shorten_statement(statement: Statement, most: int) -> Statement | None:
    text = statement.text
    for end in reversed([match.end() for match in _END.finditer(text)]):
        short = Statement(text[:end].rstrip(), statement.turns)
        if count_words(short.line()) <= most and short.text.count("“") == short.text.count("”"):
            return short
    return None


def render_summary(summary: Summary) -> str:
    """Returns the text of the memory. An empty section says "Nothing"."""
    parts = [summary.description]
    sections = (summary.intent, summary.happened, summary.outcome, summary.files)
    for name, statements in zip(SECTIONS, sections, strict=True):
        lines = "\n".join(one.line() for one in statements) or "- Nothing."
        parts.append(f"## {name}\n{lines}")
    return "\n\n".join(parts)


def split_sections(text: str) -> dict[str, str]:
    """Returns the text below each heading of a summary, even if a person edited it. The key "" has the text before
    the first heading."""
    sections: dict[str, str] = {}
    name, start = "", 0
    for match in _HEADING.finditer(text):
        sections[name] = f"{sections.get(name, '')}\n{text[start : match.start()].strip()}".strip()
        name, start = match[1], match.end()
    sections[name] = f"{sections.get(name, '')}\n{text[start:].strip()}".strip()
    return sections


def list_names(names: Sequence[str], most: int, noun: str) -> str:
    """Joins names as `a, b and c`. If there are more than `most`, the others are only counted."""
    if len(names) > most:
        rest = len(names) - most
        more = noun if rest == 1 else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
        return f"{', '.join(names[:most])} and {rest} more {more}"
    return join_names(tuple(names))
