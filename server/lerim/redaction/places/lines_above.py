"""Finds secrets that a line above identifies: table columns, output of commands, entries of a Kubernetes Secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.redaction.values import (
    PLACEHOLDER,
    SAMPLE,
    NameGroup,
    Span,
    find_places,
    is_uuid,
    looks_chosen,
    looks_like_password,
    select_found_names,
)

_HEADING = re.compile(
    r"[`*_ ]{0,3}(?:[\w /-]{0,20}[ _-])?(?:pass(?:word|wd|wort|phrase|code)?|pwd|pw|token|secret|api[ _-]?key"
    r"|secret[ _-]?key|"
    r"access[ _-]?key|credentials?|kennwort|mot de passe|contraseña|senha|hasło|пароль|密码|パスワード"
    r"|비밀번호)[`*_ ]{0,3}\Z",
    re.IGNORECASE,
)
_WORDS = NameGroup(
    (
        "pass",
        "pwd",
        "token",
        "secret",
        "key",
        "credential",
        "kennwort",
        "mot de passe",
        "contraseña",
        "senha",
        "hasło",
        "пароль",
        "密码",
        "パスワード",
        "비밀번호",
    )
)
_PASSWORD = re.compile(
    r"[`*_ ]{0,3}(?:[\w /-]{0,20}[ _-])?(?:pass(?:word|wd|wort|code)?|pwd|pw|kennwort|mot de passe|contraseña|senha|"
    r"hasło|пароль|密码|パスワード|비밀번호)[`*_ ]{0,3}\Z",
    re.IGNORECASE,
)
_TWO_COLUMNS = re.compile(r"[\w -]{1,40}[,;][\w -]{1,40}\Z")
_ROWS = 30
_WIDTH = 400
_MARKS = ("|", "│", "┃", "\t", ",", ";")
_RULE = re.compile(r"[\s|│┃├┼┤─━═╞╪╡:+-]{1,400}\Z")
_CELL = re.compile(r"[`*\"' ]{0,4}(?P<value>[^\s`\"']{8,200}?)[`*\"' ]{0,4}\Z")
_GAP = re.compile(r"\S+(?: \S+)*")

_PRINTED = re.compile(
    r"(?:wg (?:genkey|genpsk)|openssl rand|pwgen|pass show|op read|op item get|echo \"?\$\{?\w{0,30}(?:PASS|PAT\b|TOKEN"
    r"|SECRET|KEY|PWD)\w{0,20}\}?\"?|"
    r"printenv \w{0,30}(?:PASS|TOKEN|SECRET|KEY|PWD)\w{0,20}|print-access-token|get-access-token|auth token"
    r"|get-login-password|"
    r"get secrets?\s[^\n]{0,160}base64 (?:-d|-D|--decode)|(?:vault|consul) kv get [^\n]{0,80}"
    r"|security find-[a-z]{3,10}-password[^\n]{0,80}|"
    r"get-secret-value[^\n]{0,120}|secrets versions access[^\n]{0,80}|cat [^\n]{0,80}(?:master\.key|token|secret"
    r"|passw\w{0,4}|\.key|initialAdminPassword)|"
    r"create token[^\n]{0,60}|token create[^\n]{0,60}|gen(?:erate)?[-_ ](?:key|secret|token|password)[^\n]{0,60})"
    r"[^\n]{0,60}\n(?P<value>[A-Za-z0-9._~+/=!@#$%^&*:-]{8,400})(?=\s|\Z)"
)
_COMMANDS = NameGroup(
    (
        "wg genkey",
        "wg genpsk",
        "openssl rand",
        "pwgen",
        "pass show",
        "op read",
        "op item",
        "echo ",
        "printenv",
        "print-access-token",
        "get-access-token",
        "auth token",
        "get-login-password",
        "get secret",
        "kv get",
        "security find",
        "get-secret-value",
        "versions access",
        "cat ",
        "create token",
        "token create",
        *(
            f"{how}{mark}{what}"
            for how in ("gen", "generate")
            for mark in "-_ "
            for what in ("key", "secret", "token", "password")
        ),
    )
)
_BELOW = re.compile(
    r"[^\n]{0,120}[:：]?[ \t]{0,4}\r?\n\s{1,12}(?P<value>[A-Za-z0-9._~+/=!@#$%^&*-]{12,400})[ \t]{0,4}(?=\r?\n|\Z)"
)
_AFTER = re.compile(r"[^\n:]{0,60}:[ \t]{1,3}(?P<value>[^\s\"'`]{8,200})[ \t.]{0,4}(?=\r?\n|\Z)")
_TOLD = NameGroup(("password", "token", "api key", "secret key", "access key", "passphrase"))
_ENTRY = re.compile(
    r"\n[ \t]{1,8}(?P<name>[\w.-]{1,60}):[ \t]{1,4}[\"']?(?P<value>[A-Za-z0-9+/=_!@#$%^&*~-]{8,4000})[\"']?[ \t]{0,4}"
    r"(?=\r?\n|\Z)"
)
SEARCHED_NAMES = (*_WORDS, *_TOLD, *_COMMANDS)


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret that a line above identifies; `low` is the text in lower case, of the same length."""
    if "\n" not in text:
        return
    if select_found_names(_WORDS, found_parts):
        yield from _tables(text, lowered, found_parts)
        for word in select_found_names(_TOLD, found_parts):
            for at in find_places(lowered, word):
                match = _BELOW.match(text, at + len(word)) or _AFTER.match(text, at + len(word))
                yield from _told(match, "password")
    for word in select_found_names(_COMMANDS, found_parts):
        for at in find_places(lowered, word):
            yield from _told(_PRINTED.match(text, at), "secret")
    for at in find_places(lowered, "kind: secret\n"):
        yield from _entries(text, lowered, at)


def _told(match: re.Match[str] | None, kind: str) -> Iterator[Span]:
    if match is not None and _good(match["value"]):
        yield Span(*match.span("value"), kind)


def _good(value: str) -> bool:
    return looks_like_password(value) and value[-1] != ")" and not is_uuid(value) and not PLACEHOLDER.search(value[:80])


def _entries(text: str, lowered: str, at: int) -> Iterator[Span]:
    end = text.find("\n---", at, at + 8000)
    for part in ("\ndata:", "\nstringdata:"):
        start = lowered.find(part, at, at + 2000)
        if start < 0:
            continue
        done = start + len(part)
        while (match := _ENTRY.match(text, done)) and (end < 0 or match.end() <= end):
            done = match.end()
            if not SAMPLE.search(match["value"][:400]):
                yield Span(*match.span("value"), "secret")


def _tables(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields secrets in the cells below a heading such as "Password", separated by bars, commas, tabs or spaces."""
    done = 0
    for start, line in _headings(text, lowered, found_parts):
        if start < done or len(line) > _WIDTH:
            continue
        mark = next(
            (
                mark
                for mark in _MARKS
                if line.count(mark) >= (2 if mark in ",;" and not _TWO_COLUMNS.match(line) else 1)
            ),
            "",
        )
        heads = _cells(line, mark)
        columns = [at for at, (_, cell) in enumerate(heads) if _HEADING.match(cell)]
        if not columns or len(heads) < 2:
            continue
        at = start + len(line) + 1
        for row in text[at : at + _ROWS * _WIDTH].split("\n")[:_ROWS]:
            cells = _cells(row, mark)
            if not _RULE.match(row):
                # a sentence before the heading on its line may also contain the mark: then align the cells at the end
                shift = len(cells) - len(heads) if mark in (",", ";") and len(cells) < len(heads) else 0
                if (mark and mark not in row) or len(cells) < len(heads) + shift:
                    break
                for column in columns:
                    if column + shift < 0:
                        continue
                    begin, cell = cells[column + shift]
                    match = _CELL.match(cell)
                    chosen = match and _PASSWORD.match(heads[column][1]) and looks_chosen(match["value"])
                    if match and (chosen or _good(match["value"])):
                        yield Span(at + begin + match.start("value"), at + begin + match.end("value"), "password")
            at += len(row) + 1
        done = at


def _headings(text: str, lowered: str, found_parts: Set[str]) -> Iterator[tuple[int, str]]:
    """Yields the lines that contain a keyword for a secret, each once per keyword, with their positions."""
    seen = -1
    for word in select_found_names(_WORDS, found_parts):
        seen = -1
        for at in find_places(lowered, word):
            if at <= seen:
                continue
            start = text.rfind("\n", max(0, at - _WIDTH), at) + 1
            seen = text.find("\n", at, at + _WIDTH)
            if seen < 0:
                seen = at + _WIDTH
                continue
            if start or at < _WIDTH:
                yield start, text[start:seen]


def _cells(line: str, mark: str) -> list[tuple[int, str]]:
    if not mark:
        return [(match.start(), match.group()) for match in _GAP.finditer(line)] if "  " in line else []
    out, at = [], 0
    for cell in line.split(mark):
        out.append((at, cell))
        at += len(cell) + len(mark)
    return out
