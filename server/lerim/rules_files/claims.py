"""Reads the single claims of a rules file: list items and short paragraphs, each with its line.

Headings, and what a list is introduced with, are the context of the claims below them; a code block belongs to the
claim before it. What Lerim itself wrote, between its markers or as a file of its own, is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lerim.rules_files.header import RulesHeader, read_rules_header
from lerim.rules_files.sources import RulesSource, read_rules_files

MAX_PARAGRAPH_CHARS, MIN_CHARS, MIN_WORDS, MAX_CODE_LINES = 500, 12, 3, 12
FILE_MARK = re.compile(r"<!-- lerim:file v1 sha=(?P<sha>[0-9a-f]*) -->[ \t]*")
"""The line that marks a rules file of Lerim's own; `lerim export` writes it (`export/rule_files.py`)."""
EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_ITEM = re.compile(r"(?P<indent> *)(?:[-*+]|\d{1,3}[.)]) +(?:\[[ xX]\] +)?(?P<text>\S.*)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6}) +(?P<text>\S.*)")
_UNDERLINE = re.compile(r" {0,3}(?:={3,}|-{3,}) *")
_FENCE = re.compile(r" *(?P<mark>`{3,}|~{3,})[^`]*")
_RULE = re.compile(r" *(?:[-*_=] *){3,}")
_BEGIN, _END = re.compile(r"<!--\s*lerim:begin\b"), re.compile(r"<!--\s*lerim:end\b")
_ONLY_LINK = re.compile(r"(?:@\S+|!?\[[^\]]*\]\([^)]*\)(?:\s*[-–—:].*)?|https?://\S+)[.,;]?")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """One claim of a rules file: its first line (from 1), its text on one line, the headings and introductions above
    it, and the code block that follows."""

    line: int
    text: str
    context: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class RulesLine:
    """A claim of a rules file: the file's path from the repository's root, the line (from 1) and the text."""

    path: str
    line: int
    text: str


@dataclass(slots=True)
class _Part:
    """A heading, list item, paragraph or code block. `level` is a heading's level or an item's indentation."""

    kind: Literal["heading", "item", "paragraph", "code"]
    line: int
    texts: list[str]
    level: int = 0

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def list_rules_lines(root: Path) -> list[RulesLine]:
    """Returns every claim that people wrote in the repository's rules files. Files that cannot be read are skipped."""
    sources, _ = read_rules_files(root)
    return [RulesLine(source.name, rule.line, rule.text) for source in sources for rule, _ in list_rules(source)]


def list_rules(source: RulesSource) -> Iterator[tuple[RuleClaim, RulesHeader]]:
    """Yields the claims of a file. One memory of an agent (with a description) is one claim; the index of such memories
    only lists the others; Lerim's own files say nothing new."""
    if _is_own_file(source.text):
        return
    header = read_rules_header(source.text)
    if source.author == "assistant" and EMPHASIS.sub("", header.description):
        text = " ".join(header.description.split())
        details = header.body.strip()[:1_000]
        line = source.text[: max(0, source.text.find("description:"))].count("\n") + 1
        yield RuleClaim(line, text, (), details if details != text else ""), header
        return
    for rule in split_rules(header.body, header.first_line):
        yield rule, header


def _is_own_file(text: str) -> bool:
    return sum(1 for line in text.split("\n") if FILE_MARK.fullmatch(line.removesuffix("\r"))) == 1


def split_rules(text: str, first_line: int = 1) -> list[RuleClaim]:
    """Returns the claims of a Markdown text, in order. `first_line` is the number of its first line in the file."""
    claims: list[RuleClaim] = []
    headings: list[_Part] = []
    parents: list[_Part] = []
    introduction = ""
    was_claim = False  # whether the part before is one, to which a code block belongs
    for part in _split_parts(text.replace("\r\n", "\n").split("\n"), first_line):
        if part.kind == "heading":
            headings = [*(one for one in headings if one.level < part.level), part]
            parents, introduction, was_claim = [], "", False
            continue
        if part.kind == "code":
            if was_claim and len(part.texts) <= MAX_CODE_LINES:
                claims[-1] = replace(claims[-1], code="\n".join(part.texts))
            was_claim = False
            continue
        if part.kind == "paragraph" and not part.level:
            parents, introduction = [], ""
        parents = [one for one in parents if one.level < part.level]
        above = (*(one.text for one in headings), introduction, *(one.text for one in parents))
        context = tuple(one.strip("*_ :") for one in above if one.strip("*_ :"))
        if part.kind == "item":
            parents.append(part)
        elif part.text.endswith(":"):
            introduction = part.text
        was_claim = _is_claim(part.text)
        if was_claim:
            claims.append(RuleClaim(part.line, part.text, context))
    return claims


def _is_claim(text: str) -> bool:
    """Returns whether a text says something by itself: not a link, a path or an introduction."""
    is_long_enough = len(text) >= MIN_CHARS and len(_WORD.findall(text)) >= MIN_WORDS
    return is_long_enough and len(text) <= MAX_PARAGRAPH_CHARS and text[-1] != ":" and not _ONLY_LINK.fullmatch(text)


def _split_parts(lines: Sequence[str], first_line: int) -> Iterator[_Part]:
    part: _Part | None = None
    at = 0
    last_end = max((n for n, line in enumerate(lines) if "-->" in line), default=-1)
    while at < len(lines):
        line, number = lines[at].expandtabs(4), first_line + at
        skipped = _count_skipped(lines, at, last_end)
        heading, item, fence = _HEADING.fullmatch(line), _ITEM.fullmatch(line), _FENCE.fullmatch(line)
        is_end = skipped or heading or item or fence or not line.strip() or _RULE.fullmatch(line) or line[:1] == "|"
        if is_end and part is not None:
            if part.kind == "paragraph" and len(part.texts) == 1 and _UNDERLINE.fullmatch(line):
                part.kind, part.level = "heading", 1 if "=" in line else 2
            yield part
            part = None
        if skipped:
            at += skipped
        elif fence is not None:
            mark = fence["mark"]
            end = next((n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(mark)), len(lines))
            yield _Part("code", number, [one.rstrip() for one in lines[at + 1 : end]])
            at = end + 1
        else:
            if heading is not None:
                yield _Part("heading", number, [heading["text"].rstrip("# ")], len(heading["marks"]))
            elif item is not None:
                part = _Part("item", number, [item["text"]], len(item["indent"]) + 1)
            elif part is not None:
                part.texts.append(line.strip().lstrip("> "))
            elif not is_end:
                indent = len(line) - len(line.lstrip())
                part = _Part("paragraph", number, [line.strip().lstrip("> ")], indent)
            at += 1
    if part is not None:
        yield part


def _count_skipped(lines: Sequence[str], at: int, last_end: int) -> int:
    """Returns how many lines from here on are a comment, or a block that Lerim wrote; without its end marker that is
    the rest of the file. `last_end` is the last line in which a comment ends."""
    line = lines[at].strip()
    if _BEGIN.search(line):
        return next((n for n in range(at, len(lines)) if _END.search(lines[n])), len(lines)) - at + 1
    if line.startswith("<!--"):
        return next((n for n in range(at, last_end + 1) if "-->" in lines[n]), at) - at + 1
    return 0
