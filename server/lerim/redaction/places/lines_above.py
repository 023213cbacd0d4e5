"""Finds secrets that a line above identifies: table columns, output of commands, entries of a Kubernetes Secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.patterns import compile_later
from lerim.redaction.places.positional import is_odd_value
from lerim.redaction.values import (
    NameGroup,
    Span,
    find_places,
    is_placeholder,
    is_sample,
    is_uuid,
    looks_chosen,
    looks_like_password,
    select_found_names,
)

_HEADING = compile_later(
    r"[`*_ ]{0,3}(?:[\w /-]{0,20}[ _-])?(?:pass(?:word|wd|wort|phrase|code)?|pwd|pw|token|secret|api[ _-]?key"
    r"|secret[ _-]?key|access[ _-]?key|credentials?|kennwort|mot de passe|contraseña|senha|hasło|пароль|密码|パスワード"
    r"|비밀번호)[`*_ ]{0,3}\Z",
    re.IGNORECASE,
)
_HEADING_LIST = (
    "pass|pwd|token|secret|key|credential|kennwort|mot de passe|contraseña|senha|hasło|пароль|密码|パスワード|비밀번호"
)
_HEADING_WORDS = NameGroup(_HEADING_LIST.split("|"))
_PASSWORD_HEADING = compile_later(
    r"[`*_ ]{0,3}(?:[\w /-]{0,20}[ _-])?(?:pass(?:word|wd|wort|code)?|pwd|pw|kennwort|mot de passe|contraseña|senha|"
    r"hasło|пароль|密码|パスワード|비밀번호)[`*_ ]{0,3}\Z",
    re.IGNORECASE,
)
_TWO_COLUMNS = compile_later(r"[\w -]{1,40}[,;][\w -]{1,40}\Z")
_MOST_ROWS = 30
_MOST_LINE_CHARACTERS = 400
_COLUMN_SEPARATORS = ("|", "│", "┃", "\t", ",", ";")
_RULER = compile_later(r"[\s|│┃├┼┤─━═╞╪╡:+-]{1,400}\Z")
_CELL = compile_later(r"[`*\"' ]{0,4}(?P<value>[^\s`\"']{8,200}?)[`*\"' ]{0,4}\Z")
_NAME_OF_VARIABLE = compile_later(r"[`* ]{0,4}[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}[`* ]{0,4}\Z")
_SPACED_CELL = compile_later(r"\S+(?: \S+)*")

_PRINTED_SECRET = compile_later(
    r"(?:wg (?:genkey|genpsk)|openssl rand|pwgen|pass show|op read|op item get|echo \"?\$\{?\w{0,30}(?:PASS|PAT\b"
    r"|TOKEN|SECRET|KEY|PWD)\w{0,20}\}?\"?|printenv \w{0,30}(?:PASS|TOKEN|SECRET|KEY|PWD)\w{0,20}|print-access-token"
    r"|get-access-token|auth token|get-login-password|get secrets?\s[^\n]{0,160}base64 (?:-d|-D|--decode)|(?:vault"
    r"|consul) kv get [^\n]{0,80}|security find-[a-z]{3,10}-password[^\n]{0,80}|get-secret-value[^\n]{0,120}"
    r"|secrets versions access[^\n]{0,80}|cat [^\n]{0,80}(?:master\.key|token|secret|passw\w{0,4}|\.key"
    r"|initialAdminPassword)|create token[^\n]{0,60}|token create[^\n]{0,60}|gen(?:erate)?[-_ ](?:key|secret|token"
    r"|password)[^\n]{0,60})[^\n]{0,60}\n(?P<value>[A-Za-z0-9._~+/=!@#$%^&*:-]{8,400})(?=\s|\Z)"
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
            f"{how}{separator}{what}"
            for how in ("gen", "generate")
            for separator in "-_ "
            for what in ("key", "secret", "token", "password")
        ),
    )
)
_VALUE_BELOW = compile_later(
    r"[^\n]{0,120}[:：]?[ \t]{0,4}\r?\n\s{1,12}(?P<value>[A-Za-z0-9._~+/=!@#$%^&*-]{12,400})[ \t]{0,4}(?=\r?\n|\Z)"
)
_VALUE_AFTER_COLON = compile_later(r"[^\n:]{0,60}:[ \t]{1,3}(?P<value>[^\s\"'`]{8,200})[ \t.]{0,4}(?=\r?\n|\Z)")
_LABELS = NameGroup(("password", "token", "api key", "secret key", "access key", "passphrase"))
_KUBERNETES_DATA = compile_later(r"\n[ \t]{0,4}(?:string)?data:(?=[ \t]{0,4}\r?\n)", re.IGNORECASE)
_LONGEST_DATA_LINE = 24
"""The most characters that `_KUBERNETES_DATA` can match. That many characters at the end of a searched text are
searched again, because a match may begin in them."""
_KUBERNETES_ENTRY = compile_later(
    r"\n[ \t]{1,8}(?P<name>[\w.-]{1,60}):[ \t]{1,4}[\"']?(?P<value>[A-Za-z0-9+/=_!@#$%^&*~-]{8,4000})[\"']?[ \t]{0,4}"
    r"(?=\r?\n|\Z)"
)
SEARCHED_NAMES = (*_HEADING_WORDS, *_LABELS, *_COMMANDS)


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret that a line above identifies."""
    if "\n" not in text:
        return
    if select_found_names(_HEADING_WORDS, found_parts):
        yield from _find_table_cells(text, lowered, found_parts)
        for word in select_found_names(_LABELS, found_parts):
            for at in find_places(lowered, word):
                match = _VALUE_BELOW.match(text, at + len(word)) or _VALUE_AFTER_COLON.match(text, at + len(word))
                yield from _check_match(match, "password")
    for word in select_found_names(_COMMANDS, found_parts):
        for at in find_places(lowered, word):
            yield from _check_match(_PRINTED_SECRET.match(text, at), "secret")
    yield from _find_kubernetes_entries(text, lowered)


def _check_match(match: re.Match[str] | None, kind: str) -> Iterator[Span]:
    if match is not None and _is_secret(match["value"]):
        yield Span(*match.span("value"), kind)


def _is_secret(value: str) -> bool:
    return looks_like_password(value) and value[-1] != ")" and not is_uuid(value) and not is_placeholder(value)


def _find_kubernetes_entries(text: str, lowered: str) -> Iterator[Span]:
    """Yields the values in the YAML of every Secret, which is a document or an item of a list. `kubectl get -o yaml`
    prints the values before the kind. The text searched for one `kind` is not searched again for the next one."""
    searched_to = 0
    for at in find_places(lowered, "kind: secret\n"):
        begin = max(at - 8000, 0)
        begin = max(begin, *(text.rfind(mark, begin, at) for mark in ("\n---", "\n- ")))
        end = min(
            (found for mark in ("\n---", "\n- ") if (found := text.find(mark, at, at + 8000)) >= 0), default=len(text)
        )
        last = min(end, at + 2000)
        for data in _KUBERNETES_DATA.finditer(text, max(begin, searched_to), last):
            entry = data.end()
            while (match := _KUBERNETES_ENTRY.match(text, entry)) and match.end() <= end:
                entry = match.end()
                if not is_sample(match["value"][:400]):
                    yield Span(*match.span("value"), "secret")
        searched_to = max(searched_to, last - _LONGEST_DATA_LINE)


def _find_table_cells(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields secrets in the cells below a heading such as "Password", separated by bars, commas, tabs or spaces."""
    searched_to = 0
    for start, line in _find_headings(text, lowered, found_parts):
        if start < searched_to or len(line) > _MOST_LINE_CHARACTERS:
            continue
        separator = next(
            (
                separator
                for separator in _COLUMN_SEPARATORS
                if line.count(separator) >= (2 if separator in ",;" and not _TWO_COLUMNS.match(line) else 1)
            ),
            "",
        )
        headings = _split_cells(line, separator)
        columns = [at for at, (_, cell) in enumerate(headings) if _HEADING.match(cell)]
        if not columns or len(headings) < 2:
            continue
        at = start + len(line) + 1
        is_ruled = bool(_RULER.match(text[at : at + _MOST_LINE_CHARACTERS].partition("\n")[0]))
        for row in text[at : at + _MOST_ROWS * _MOST_LINE_CHARACTERS].split("\n")[:_MOST_ROWS]:
            cells = _split_cells(row, separator)
            if not _RULER.match(row):
                # the heading may follow a sentence that contains the separator: then align the cells at the end
                column_shift = (
                    len(cells) - len(headings) if separator in (",", ";") and len(cells) < len(headings) else 0
                )
                if (separator and separator not in row) or len(cells) < len(headings) + column_shift:
                    break
                for column in columns:
                    if column + column_shift < 0:
                        continue
                    cell_start, cell = cells[column + column_shift]
                    is_variable = _NAME_OF_VARIABLE.match(headings[column][1]) and _NAME_OF_VARIABLE.match(cell)
                    if is_variable and not is_ruled:
                        continue  # a row of a table of variables, not its heading
                    match = _CELL.match(cell)
                    if match is None:
                        continue
                    is_chosen = _PASSWORD_HEADING.match(headings[column][1]) and (
                        looks_chosen(match["value"])
                        or (looks_chosen(match["value"], 1) and is_odd_value(match["value"], False))
                    )
                    if is_chosen or _is_secret(match["value"]):
                        yield Span(
                            at + cell_start + match.start("value"), at + cell_start + match.end("value"), "password"
                        )
            at += len(row) + 1
        searched_to = at


def _find_headings(text: str, lowered: str, found_parts: Set[str]) -> Iterator[tuple[int, str]]:
    """Yields each line that contains a keyword for a secret, once for each keyword, with that keyword's position."""
    for word in select_found_names(_HEADING_WORDS, found_parts):
        line_end = -1
        for at in find_places(lowered, word):
            if at <= line_end:
                continue
            start = text.rfind("\n", max(0, at - _MOST_LINE_CHARACTERS), at) + 1
            line_end = text.find("\n", at, at + _MOST_LINE_CHARACTERS)
            if line_end < 0:
                line_end = at + _MOST_LINE_CHARACTERS
                continue
            if start or at < _MOST_LINE_CHARACTERS:
                yield start, text[start:line_end]


def _split_cells(line: str, separator: str) -> list[tuple[int, str]]:
    """Returns the cells of a line with their positions in it. If `separator` is "", cells are separated by two or
    more spaces."""
    if not separator:
        return [(match.start(), match.group()) for match in _SPACED_CELL.finditer(line)] if "  " in line else []
    spans, at = [], 0
    for cell in line.split(separator):
        spans.append((at, cell))
        at += len(cell) + len(separator)
    return spans
