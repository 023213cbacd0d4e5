"""Splits a person's message into their own words and the text they pasted.

Pasted text without a mark is recognised line by line, by how a line begins, or by the shape of several lines
(`output_shape.py`). A rule for the beginning of a line must be a form that nobody writes in a sentence of their own.
Output that looks like prose (`git status`) has neither, so it counts as the person's words.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

from lerim.code_fences import next_fence
from lerim.sessions.readers.engine.output_shape import classify_line, find_output_lines

_DOCUMENTS = (
    "article|attachments?|channel|comments?|contents?|context|data|documents?|docs?|e?mails?|errors?|excerpt|files?|html|issue|"
    "logs?|messages?|output|pages?|paste|pasted|pdf|pull|quote|results?|scheduled|skill|snippet|source|stderr|stdout|text|thread|"
    "ticket|trace|traceback|transcript|web|webpage|website"
)
_BLOCK = re.compile(
    rf"<((?:[^\W_]{{1,30}}[_-]){{0,3}}(?:{_DOCUMENTS})(?:[_-][^\W_]{{1,30}}){{0,3}})(?:\s[^<>\n]{{0,500}})?>",
    re.IGNORECASE,
)
"""Matches the opening tag of a block around pasted text: `<document_content>`, `<email>`, `<log_file name="x">`."""
_CLOSES = re.compile(r"</([\w-]{1,200})>")
_QUOTED = '"""'
_LEVEL = r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b"
_LOG_LINES = {
    "date and time": r"\[?\d{4}(?P<sign>[-/])\d\d(?P=sign)\d\d[T ]\d\d:\d\d:\d\d|\[\d\d[/.]\d\d[/.]\d\d(?:\d\d)?,? \d",
    "syslog": r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ",
    "time": rf"\[\d\d:\d\d:\d\d\b|\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})? [\[(]?{_LEVEL}",
    "error": r"[A-Za-z_][\w.]{0,80}(?:Error|Exception|Warning): ",
    "JSON": (
        r"\{?\"[\w$@./-]{1,60}\"\s?: ?(?:[\[{]\s{0,4}$|(?=[\"\[{\d-]|true\b|false\b|null\b)[^\n]{0,100000}"
        r"[\"\]}\de],?\s{0,4}$)"
    ),
    "place in a file": (
        r"[\w./\\-]{1,200}\.\w{1,6}(?::\d{1,6}:\d{1,6}(?::|\s{0,4}$|(?= - (?:error|warning)))|"
        r"(?::\d{1,6}|\(\d{1,6},\d{1,6}\)): (?:error|warning|note)(?::| [A-Z]{1,4}\d))"
    ),
    "compiler's mark": r"[\^~]{3,400}\s{0,4}$",
    "shell": r"/[\w./-]{1,200}: line \d{1,6}: ",
    "Python": r"Traceback \(most recent call last\):|File \"[^\"\n]{1,300}\", line \d{1,6}(?:, in |\s{0,4}$)",
    "pytest": r"E   ",
    "pip": r"[\w.-]{1,80} \d[\w.+!-]{0,40} requires [^\n]{1,500}, but you have [\w.-]{1,80} \d\S{0,40} which is",
    "JavaScript": (
        r"at (?:[\w$.<>]{1,200}(?:\(| \([^()\n]{0,300}(?::\d|anonymous|native))|\S{1,300}:\d{1,6}:\d{1,6}\s{0,4}$)"
    ),
    "npm": r"npm (?:ERR!|WARN\b)",
    "ESLint": r"\d{1,6}:\d{1,6} {2,8}(?:error|warning) {2}",
    "Chrome": (
        r"[^\s]{1,300}:\d{1,6} {1,4}(?:[A-Z]{3,7} https?:|Failed to load resource:|Uncaught )|"
        r"[^\n]{0,2000}\SUnderstand this (?:error|warning)\s{0,4}$"  # the link after each message
    ),
    "Firefox": r"\d\d:\d\d:\d\d\.\d{3}\s",
    "Docker": r"[\w.-]{2,60}(?:-\d{1,3} {1,40}| {2,40})\|(?: |$)|\(\w[\w-]{0,40} pid=\d{1,9}\) |#\d{1,3} \d{1,5}\.\d",
    "Go": r"=== (?:RUN|PAUSE|CONT|NAME) |--- (?:PASS|FAIL|SKIP): |ok  [ \t]|FAIL(?:\t| {2})|go: downloading ",
    "make": r"make(?:\[\d{1,3}\])?: \*\*\* ",
}
"""How a line of a log or of a tool's output begins, by what writes it."""
_LOGGED = re.compile(rf"\s{{0,40}}(?:{'|'.join(_LOG_LINES.values())})")
_LEVEL_MARK = re.compile(r"\s{0,40}(?i:\[(?:info|warn(?:ing)?|error|debug|trace|fatal)\])")
_MAYBE_LOGGED = re.compile(
    rf"{_LEVEL_MARK.pattern}|\s{{0,40}}(?:\[?\d{{4}}-\d\d-\d\d[T ]\d|\d\d:\d\d:\d\d\b|{_LEVEL}[:\s\[|])",
)
"""Matches how a line of a log may begin, or a person's sentence: `10:30:00 is when it runs`, `WARN: never touch it`."""
_FRAME = re.compile(r"\s{0,40}File \"[^\"\n]{1,300}\", line ")
"""Matches a line of a Python traceback; the line after it may be its source code."""
_HEADER = re.compile(
    r"\s{0,8}[*_]{0,2}(from|to|cc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|à|objet|envoyé|"
    r"para|asunto|fecha|enviado)[*_]{0,2}\s{0,2}:[*_]{0,2}\s{0,3}\S",
    re.IGNORECASE,
)
_HEADER_COUNT = 2
"""Number of headers, on lines close to each other, that make a text an e-mail if one of them is a subject or contains
an address."""
_SUBJECTS = frozenset(("subject", "betreff", "objet", "asunto"))
_MAIL = re.compile(
    r"\s{0,8}(?:-{2,20} ?(?:original message|forwarded message|ursprüngliche nachricht|mensaje original|message "
    r"d'origine)|begin forwarded message:|"
    r"(?:on|am|le|el) (?=[^\n\d]{0,40}\d)[^\n]{6,200}(?:wrote|schrieb|a écrit|escribió):\s{0,4}$)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"\s{0,8}(?:hi|hello|dear|hey|hallo|liebe[rs]?|bonjour|hola)\b[^\n.?!]{0,60}[,!:]?\s{0,4}$", re.IGNORECASE
)
_SIGNED = re.compile(
    r"\s{0,8}(?:best|best regards|kind regards|regards|cheers|sincerely|yours|thanks|thank you|many thanks|viele grüße|"
    r"mit freundlichen grüßen|cordialement|saludos)[,.!]?\s{0,4}$",
    re.IGNORECASE,
)


_DAY = r"(?:\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? )?(?:(?i:today|yesterday),? (?:at )?)?"
_CLOCK = rf"{_DAY}\d{{1,2}}[:.]\d\d(?:\s?[AaPp]\.?[Mm]\.?)?"
_SCREEN = re.compile(
    rf"\s{{0,8}}(?:"
    rf"(?:(?:\([\w.-]{{1,40}}\) ){{0,2}}[\w.-]{{1,40}}@[\w.-]{{1,60}}[^\n$%#]{{0,80}}|"  # (venv) ana@host:~$ ls
    rf"\[\d{{1,3}}\])?\$ (?:[^\W\d]|[./~])|"
    rf"(?:\([\w.-]{{1,40}}\) ){{0,2}}[\w.-]{{1,40}}@[\w.-]{{1,60}}[^\n$%#]{{0,80}}% (?!of\b)[a-z./~]|"  # zsh
    rf"[\w.-]{{1,40}}@[\w.-]{{1,60}}[: ][~/][^\s$%#>]{{0,80}}[#>] \S|"  # root@host:/app# ls, ana@host ~/shop> ls
    rf"% [a-z./~]\S{{0,40}}(?:(?: \S{{1,60}})?\s{{0,4}}$|(?: [^\n]{{0,100}})? (?:-{{1,2}}\w|\S{{0,60}}[./=]\w))|"
    rf"(?:PS )?[A-Z]:\\[^\n>]{{0,200}}>|"  # PS C:\app> dir
    rf"(?:\([\w.-]{{1,40}}\) )?➜ {{2}}|"
    rf"[⏺❯›⎿│┃┌└├╭╰]|"  # an agent's own screen
    rf"#{{1,6}} (?:(?i:from|in|of|file|see):? )?[`*]{{0,2}}[\w./-]{{1,80}}\.(?:md|mdc|rst|txt)\b|"  # AGENTS.md
    rf"[\w.@-]{{2,40}}(?: [A-Z][\w.'-]{{0,30}}){{0,3}}(?: APP| BOT)?\s{{1,4}}(?:[—–-] )?\[?{_CLOCK}\]?\s{{0,4}}$|"
    rf"\[{_CLOCK}\] [^\n:]{{1,60}}:)"
)
"""Matches the start of text copied from a terminal, an agent's screen, a chat or a document; nothing marks its end."""
_DIFF = re.compile(r"\s{0,8}(?:diff --git a/|--- a/\S|@@ -\d)")
_HUNK = re.compile(r"\s{0,8}@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_DIFF_HEADER = re.compile(
    r" {0,8}(?:diff --git |index [0-9a-f]|--- |\+\+\+ |@@ |\\ No newline|(?:new|deleted) file mode |(?:old|new) mode "
    r"|(?:dis)?similarity index |(?:rename|copy) (?:from|to) |Binary files |GIT binary patch|commit [0-9a-f]{7,64}"
    r"|(?:Author|Date|Merge): | {4})"
)
_PLAN = re.compile(r"\s{0,8}(?:Implement the following plan|PLEASE IMPLEMENT THIS PLAN):[ \t]{0,8}\n")


class MessagePart(NamedTuple):
    """A part of a person's message: their own words, or text they pasted (`own` is False)."""

    own: bool
    text: str


def split_message(text: str) -> tuple[MessagePart, ...]:
    """Splits a message, in order, into the person's own words and the text they pasted: documents and files in tags,
    fenced blocks, quoted lines, logs, e-mail, screens and chats. Pasted text may contain a forged end, so a block
    extends to the last closing tag, and an e-mail, a screen or a chat to the end of the message."""
    parts: list[MessagePart] = []
    position = 0
    if plan := _PLAN.match(text):  # Claude Code and Codex hand on their own plan this way
        return (MessagePart(True, plan.group()), MessagePart(False, text[plan.end() :]))
    ends = {closing[1].lower(): closing.end() for closing in _CLOSES.finditer(text)}
    fence, scanned, line_end = "", 0, _find_line_end(text, 0)
    for opening in _BLOCK.finditer(text):
        start, name = opening.start(), opening[1].lower()
        if start < position:
            continue
        while line_end < start:
            fence = _next_fence(text[scanned:line_end], fence)
            scanned, line_end = line_end + 1, _find_line_end(text, line_end + 1)
        if fence:
            continue  # a tag in fenced code opens no block
        end = ends.get(name, -1)
        if end < opening.end():
            ends_line = text[opening.end() : opening.end() + 1] in ("\n", "\r", "")
            if not ends_line and not name.startswith("document"):
                continue  # `<file>` in a sentence such as `rename <file>` opens no block
            end = len(text)
        before, continues = _split_lines(text[position:start])
        parts += [*before, MessagePart(False, text[start:end])]
        position = scanned = end
        line_end = _find_line_end(text, end)
        if continues:
            return tuple(_join_parts([*parts, MessagePart(False, text[position:])]))
    return tuple(_join_parts([*parts, *_split_lines(text[position:])[0]]))


def extract_own_words(text: str) -> str:
    """Returns the person's own words in their message, without pasted text. A blank line replaces pasted text, so
    that the texts before and after it do not join into one sentence."""
    parts = split_message(text)
    if all(part.own for part in parts):
        return text
    own = (part.text if part.text.endswith("\n") else f"{part.text}\n" for part in parts if part.own)
    return "\n".join(own).strip()


def _join_parts(parts: list[MessagePart]) -> list[MessagePart]:
    groups = groupby((part for part in parts if part.text), key=lambda part: part.own)
    return [MessagePart(own, "".join(part.text for part in group)) for own, group in groups]


def _next_fence(line: str, fence: str) -> str:
    """Returns the mark of the block of code or quoted text that is open after this line, "" if none; `fence` is the one
    open before it."""
    if fence in ("", _QUOTED) and line.lstrip().startswith(_QUOTED):
        return "" if fence else _QUOTED
    return fence if fence == _QUOTED else next_fence(line, fence)


def _find_line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)


def _split_lines(text: str) -> tuple[list[MessagePart], bool]:
    """Splits a text without tagged blocks into parts, line by line; also returns whether the last one continues beyond
    the text."""
    lines = [f"{line}\n" for line in text.split("\n")] if text else []
    lines[-1:] = [line[:-1] for line in lines[-1:]]
    mail_start = _find_mail(lines)
    output = find_output_lines(lines[:mail_start], _find_logged(lines[:mail_start]))
    fence = ""
    diff_end = 0
    parts: list[MessagePart] = []
    for at, line in enumerate(lines[:mail_start]):
        if not fence and at >= diff_end and _DIFF.match(line):
            diff_end = _find_diff_end(lines, at)
        if at < diff_end:
            parts.append(MessagePart(False, line))
            continue
        was, fence = fence, _next_fence(line, fence)
        if was or fence:
            parts.append(MessagePart(False, line))
        elif line == "\n":
            parts.append(MessagePart(True, line))
        elif _SCREEN.match(line):
            return [*parts, MessagePart(False, "".join(lines[at:]))], True
        else:
            parts.append(MessagePart(not (line.lstrip().startswith(">") or at in output), line))
    continues = mail_start < len(lines)
    return [*parts, MessagePart(False, "".join(lines[mail_start:]))], continues


def _find_diff_end(lines: list[str], start: int) -> int:
    """Returns the index of the line after a diff: the first below a blank line that belongs neither to a change nor to
    its head. A change has as many lines as its head says."""
    old = new = 0
    for at in range(start, len(lines)):
        line = lines[at].rstrip("\r\n")
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1] or 1), int(hunk[2] or 1)
        elif (old > 0 or new > 0) and line[:1] in ("", " ", "+", "-"):
            old -= line[:1] != "+"
            new -= line[:1] != "-"
        elif line.strip() and not lines[at - 1].strip() and not _DIFF_HEADER.match(line):
            return at
    return len(lines)


def _find_logged(lines: list[str]) -> set[int]:
    """Returns the indexes of the lines of a log; the source code that a traceback shows belongs to it. Lines that may
    be sentences are lines of a log beside one that is none, or beside another that is no sentence."""
    logged = {at for at, line in enumerate(lines) if _LOGGED.match(line)}
    logged |= {at for at in range(1, len(lines)) if lines[at].startswith("    ") and _FRAME.match(lines[at - 1])}
    starts = {at: match.end() for at, line in enumerate(lines) if (match := _MAYBE_LOGGED.match(line))}
    for _, numbered in groupby(enumerate(sorted(logged | starts.keys())), key=lambda pair: pair[1] - pair[0]):
        group = [at for _, at in numbered]
        unlike_sentences = [
            at for at in group if at not in logged and classify_line(lines[at][starts[at] :]) != "sentence"
        ]
        is_log = unlike_sentences and (len(group) > 1 or _LEVEL_MARK.match(lines[group[0]]))
        if is_log or any(at in logged for at in group):
            logged.update(group)
    return logged


def _find_mail(lines: list[str]) -> int:
    """Returns the index of the line where a pasted e-mail begins, or the number of lines if there is none."""
    headers: list[tuple[int, str, bool]] = []
    greeting = -1
    for at, line in enumerate(lines):
        if line == "\n":
            continue
        if _MAIL.match(line):
            return at
        if found := _HEADER.match(line):
            headers = [one for one in headers if at - one[0] <= 4]
            name = found[1].lower()
            headers.append((at, name, name in _SUBJECTS or "@" in line))
            if len({name for _, name, _ in headers}) >= _HEADER_COUNT and any(is_mail for _, _, is_mail in headers):
                return headers[0][0]
        if greeting < 0 and _GREETING.match(line):
            greeting = at
        elif greeting >= 0 and _SIGNED.match(line) and any(line.strip() for line in lines[at + 1 :]):
            return greeting
    return len(lines)
