"""Finds secrets that are not written as `name = value`: in sentences of many languages, tables, arguments of calls
and commands, and name-value pairs.

Each pattern is matched at the position of a keyword, with bounded repetition, so the cost is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.patterns import compile_later
from lerim.redaction.places.positional import is_odd_value, is_token
from lerim.redaction.values import (
    NameGroup,
    Span,
    find_places,
    is_placeholder,
    is_sample,
    is_scrambled,
    is_uuid,
    looks_random,
    select_found_names,
)

_PASSWORD_NAME_LIST = (
    "password|passwd|passphrase|passcode|passwort|passord|kennwort|contrasena|senha|haslo|wachtwoord|losenord|"
    "kodeord|adgangskode|heslo|parola|salasana|mot de passe|identified by|contraseña|пароль|паролем|密码|密碼|口令|"
    "パスワード|비밀번호|암호|hasło|lösenord|jelszó|şifre|סיסמה|κωδικός|mật khẩu|كلمة المرور"
)
_PASSWORD_NAMES = NameGroup(_PASSWORD_NAME_LIST.split("|"))
_TOKEN_NAME_LIST = (
    "token|secret|_pat|credential|webhook|jeton|geheimnis|schluessel|clave|chave|llave|apikey|api_key|api-key|"
    "accesskey|access_key|access-key|auth_key|authkey|api key|access key|secret key|auth key|license key|"
    "schlüssel|секрет|токен|ключ|密钥|密鑰|金鑰|令牌|トークン|シークレット|토큰|비밀키|clé api"
)
_TOKEN_NAMES = NameGroup(_TOKEN_NAME_LIST.split("|"))
SEARCHED_NAMES = (*_PASSWORD_NAMES, *_TOKEN_NAMES, "key")
_VALUE = r"(?P<value>[^\s\"'“”„‘’«»‹›`<>|,;(){}\\\[\]…]{6,400})"
_CLOSING_MARKS = r"[\"'”’»`*_\]\)>\\]{0,5}"
_OPENING_MARKS = r"(?:\([ \t]{0,2}\n\s{0,20})?(?:[brufN@]{0,2}[\"'“”„‘’«»‹「『`*_<\\\[(]{1,5}[ \u00a0\u202f]?|)"
_ASSIGNMENT = compile_later(
    rf"(?P<name>(?:[_.-][\w.-]{{0,32}}|s|\d{{1,3}}|[A-Z]\w{{0,24}})?){_CLOSING_MARKS}[ \t]{{0,8}}"
    rf"(?P<sign>=>|:=|->|→|={{1,3}}|[:：＝|])[*_]{{0,2}}\s{{0,8}}{_OPENING_MARKS}{_VALUE}"
)
_NEXT_ARGUMENT = compile_later(
    rf"(?P<name>(?:[_-][\w-]{{0,32}}|s|[A-Z]\w{{0,24}})?)\\{{0,3}}[\"'”’`]\]?\)?\s{{0,3}}(?P<sign>,|\|\||\?\?|or"
    rf"|\?:)\s{{0,4}}(?:default\s?=\s?)?[bruf]{{0,2}}\\{{0,3}}[\"'“‘`]{_VALUE}\\{{0,3}}[\"'”’`]"
)
_STATEMENT = compile_later(
    rf"(?P<name>[ \t]{{0,2}}[\w /-]{{0,24}}?){_CLOSING_MARKS}[ \t]{{1,3}}"
    rf"(?P<sign>is|was|are|ist|war|lautet|es|est|è|é|är|er|jest|on|to|:)"
    rf"[ \t]{{0,2}}:?\s{{1,3}}(?:now[ \t]|still[ \t]|set to[ \t])?{_OPENING_MARKS}{_VALUE}"
)
_DEFAULT_VALUE = compile_later(
    rf"(?P<name>(?:[_-][\w-]{{0,32}}|s)?)[\"'\])]{{0,3}}\s{{1,3}}(?P<sign>\|\||\?\?|or|:-)\s{{1,3}}[\"'`]{_VALUE}[\"'`]"
)
_VALUE_BEFORE_PASSWORD = compile_later(
    r"(?P<value>[^\s\"'“”«»`]{6,60})[\"'”»`]?[ \t](?:(?:is|was|as)"
    r"(?:[ \t](?:the|my|our|your|a|new|old|admin|root|db|\w{1,12})){0,4}[ \t]|\((?:the )?)\Z"
)
_CLOSING_PARENTHESIS = compile_later(r"\w{2,12}\)")
_VALUE_BEFORE_TOKEN = compile_later(
    r"(?<![\w/.=-])(?P<value>[A-Za-z0-9_-]{16,100})[\"'`]?[ ,](?P<is>(?:is|was|as) (?:the|my|our|your|a) )?"
    r"(?:[A-Za-z-]{2,12} ){0,2}\Z"
)
_ID_PREFIX = compile_later(r"[a-z]{2,8}_")
_HEX = compile_later(r"[0-9a-f-]+\Z")
_AFTER_WORD = (" ", ".", ",", "!", "?", "\n", ")", "")
_ASIAN_STATEMENT = compile_later(
    rf"(?P<sign>は|是|为|為|는|은|이|가){{1,2}}\s{{0,2}}{_OPENING_MARKS}(?=[!-~]{{6}}){_VALUE}"
)
_VALUE_BESIDE = compile_later(rf"(?P<name>s?){_CLOSING_MARKS}[ \t]{{1,3}}\(?{_OPENING_MARKS}{_VALUE}")
_VARIABLE_NAME = compile_later(r"\$\{?\w{0,50}\Z")
"""Matches the end of a variable that is the name of a secret: the text next to it is not the secret's value."""
_NAME_VALUE_PAIR = compile_later(
    rf"(?P<name>[\w.-]{{0,32}})\\{{0,3}}[\"']?\s{{0,4}}[,;]?\s{{0,40}}(?:-\s)?\\{{0,3}}[\"']?(?i:(?:parameter)?value)\\{{0,3}}"
    rf"[\"']?\s{{0,3}}[:=]\s{{0,3}}"
    rf"\\{{0,3}}[\"']?{_VALUE}"
)
_KEY_ASSIGNMENT = compile_later(
    r"(?P<before>[\w.-]{0,40}?)(?:key|Key|KEY|keys)(?P<name>[_-]?(?:\d{1,2}|prod|live|test|id"
    r"|data)?)\\{0,3}[\"'`*]{0,3}\]?\s{0,3}"
    rf"(?P<sign>=>|:=|={{1,2}}|:|\||(?<=\s)is(?=\s))[*]{{0,2}}\s{{0,4}}{_OPENING_MARKS}{_VALUE}"
)
_OTHER_KEY = compile_later(
    r"(?:public|primary|foreign|partition|sort|object|idempotency|cache|row|lookup|query|host|storage|s3|bucket|hash|"
    r"integrity|group|unique|event|shard|composite|i18n|dedupe|translation|react|known|item|message|map|index|order|"
    r"route|state|session|turbo|build|pub|node|content|file|data|registry|record|entity|image)[ _.-]?$",
    re.IGNORECASE,
)
_OPTION = compile_later(
    r"(?P<name>--?[A-Za-z][A-Za-z0-9_-]{0,40})(?:[ \t]{1,3}|=)(?:\\\n\s{0,8})?[\"']?"
    r"(?P<value>[^\s\"'`<>|;$(){}\\-][^\s\"'`<>|;]{5,400})"
)
_SECRET_OPTION = compile_later(
    r"(?:token|secret|passw|passphrase|pwd|api[-_]?key|apikey|auth[-_]?key|access[-_]?key|credential|storepass"
    r"|keypass|-pass$)",
    re.IGNORECASE,
)
_ATTRIBUTE_OPTION = compile_later(
    r"(?:file|path|url|type|name|id|env|stdin|limit|count|max|min|length|budget|expir\w*|ttl)s?$", re.IGNORECASE
)
_LOGIN_OPTION = compile_later(
    r"(?:-u|-a|--user|--auth|--userpwd|--creds)[ \t=]{1,3}[\"']?(?!\+%)[\w.@+-]{1,60}[:%](?P<value>[^\s\"']{5,200})"
)
_PIPED_VALUE = compile_later(
    r"(?:echo|printf)[ \t]{1,3}(?:-\w{1,3}[ \t])?[\"']?(?:[\w.-]{1,40}:)?"
    r"(?P<value>[^\s\"'|$]{4,200})(?:\\n)?[\"']?[ \t]{0,3}\|[ \t]{0,3}[^\n|]{0,80}\Z"
)
_PASS_ARGUMENT = compile_later(r"pass:(?P<value>[^\s\"']{4,200})")
"""A password as openssl's options take it: `-passin pass:…`."""
_EMAIL_ADDRESS = compile_later(r"[a-z][\w.+-]{0,60}@[a-z][\w-]{1,60}(?:\.[a-z][\w-]{1,30}){1,4}\Z")
_TRAILING_MARKS = ".,!?:;)*_”’»"
_VALUE_PATTERNS = (
    _ASSIGNMENT,
    _NEXT_ARGUMENT,
    _DEFAULT_VALUE,
    _NAME_VALUE_PAIR,
    _STATEMENT,
    _ASIAN_STATEMENT,
    _VALUE_BESIDE,
)
"""The patterns of a value that follows a keyword, in the order in which they are tried."""


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds every secret that a keyword introduces."""
    spans: list[Span] = []
    for word in select_found_names(_PASSWORD_NAMES, found_parts):
        for at in find_places(lowered, word):
            spans += _find_password(text, at + len(word))
            spans += _find_password_before(text, at)
    for at in find_places(lowered, "pw"):
        if text[at + 2 : at + 3] in ("d", ":", "=", " ") and not (at and lowered[at - 1].isalnum()):
            spans += _find_password(text, at + 2 + lowered.startswith("d", at + 2))
    for at in find_places(lowered, "_pass") if "pass" in found_parts else ():
        match = _NAME_VALUE_PAIR.match(text, at + len("_pass"))
        if match is not None and is_odd_value(trim_value(match), False):
            spans += yield_value(match, "password")
    for word in select_found_names(_TOKEN_NAMES, found_parts):
        for at in find_places(lowered, word):
            spans += _find_token(text, at + len(word))
            spans += _find_token_before(text, at, at + len(word))
    if "key" in found_parts:
        spans += _find_keys(text, lowered)
    if "-" in text:
        spans += _find_option_values(text, lowered)
    return spans


def yield_value(match: re.Match[str] | None, kind: str) -> Iterator[Span]:
    """Yields the span of the match's value without trailing punctuation, unless it is a placeholder or an address."""
    if match is None:
        return
    value = match["value"].rstrip(_TRAILING_MARKS)
    if value and not _is_no_secret(value):
        yield Span(match.start("value"), match.start("value") + len(value), kind)


def _is_no_secret(value: str) -> bool:
    return bool(is_placeholder(value) or is_sample(value[:400]) or _EMAIL_ADDRESS.match(value))


def trim_value(match: re.Match[str]) -> str:
    """Returns the match's value without trailing punctuation."""
    return match["value"].rstrip(_TRAILING_MARKS)


def _find_password(text: str, end: int) -> Iterator[Span]:
    for pattern in _VALUE_PATTERNS:
        match = pattern.match(text, end)
        if match is None or (pattern is _VALUE_BESIDE and _VARIABLE_NAME.search(text, max(0, end - 60), end)):
            continue
        value = trim_value(match)
        is_code = text[match.end() : match.end() + 1] in ("(", "[") or value.endswith(("(", ":"))
        if is_odd_value(value, False) and not is_code and not (pattern is _VALUE_BESIDE and not _is_unlike_word(value)):
            yield from yield_value(match, "password")
            return


def _find_password_before(text: str, at: int) -> Iterator[Span]:
    """Yields a value if the words after it call it a password."""
    if text.rfind(" ", max(0, at - 48), at) < 0:
        return  # a verb before the keyword would have a space near it
    match = _VALUE_BEFORE_PASSWORD.search(text, max(0, at - 110), at)
    if match is not None and "(" in text[match.end("value") : at] and not _CLOSING_PARENTHESIS.match(text, at):
        return
    if match is not None and _is_unlike_word(trim_value(match)) and is_odd_value(trim_value(match), False):
        yield from yield_value(match, "password")


def _find_token_before(text: str, at: int, end: int) -> Iterator[Span]:
    """Yields a value if the words after it call it a token or a key."""
    if text[end : end + 1] not in _AFTER_WORD or text[at - 1 : at] != " ":
        return
    match = _VALUE_BEFORE_TOKEN.search(text, max(0, at - 100), at)
    if (
        match is not None
        and is_scrambled(match["value"])
        and not _ID_PREFIX.match(match["value"])
        and (match["is"] or not _HEX.match(match["value"]))
    ):
        yield from yield_value(match, "named-secret" if match["is"] else "token")


def _is_unlike_word(value: str) -> bool:
    """Returns whether a value is unlike the words of a sentence: letters mixed with digits or special characters."""
    return is_scrambled(value) or (
        _has_letters(value)
        and (sum(map(str.isdigit, value)) >= 1)
        and not re.match(r"[A-Za-z]{1,12}\d{1,2}\Z|\d|v\d", value)
    )


def _has_letters(value: str) -> bool:
    return sum(map(str.isalpha, value)) >= 3


def _find_token(text: str, end: int) -> Iterator[Span]:
    for pattern in _VALUE_PATTERNS:
        match = pattern.match(text, end)
        if match is None or (pattern is _VALUE_BESIDE and _VARIABLE_NAME.search(text, max(0, end - 60), end)):
            continue
        value = trim_value(match)
        if pattern is _VALUE_BESIDE and (len(value) < 16 or is_uuid(value)):
            continue
        name = match.groupdict().get("name") or ""
        if (
            is_token(value, name)
            and ("/" not in value[:2] or len(value) == 40)
            and text[match.end() : match.end() + 1] != "("
        ):
            yield from yield_value(match, "token")
            return


def _find_keys(text: str, lowered: str) -> Iterator[Span]:
    """Yields the values of names that end with `key`, if they are long and look random."""
    searched_to = 0
    for at in find_places(lowered, "key"):
        if at < searched_to:
            continue
        match = _KEY_ASSIGNMENT.match(text, at)
        if match is None:
            continue
        before = text[max(0, at - 24) : at]
        if not before or not (
            before[-1] in "_- " or (before[-1].isalpha() and text[at] == "K") or before[-1].isupper()
        ):
            continue
        value = trim_value(match)
        classes = sum(any(map(kind, value)) for kind in (str.isdigit, str.islower, str.isupper))
        if len(value) < 20 or classes < 2 or _OTHER_KEY.search(before) or (value.count("/") > 4 and "." in value):
            continue
        if looks_random(value) and is_token(value):
            yield from yield_value(match, "key")
            searched_to = match.end()


def _find_option_values(text: str, lowered: str) -> Iterator[Span]:
    """Yields values of options whose name says that they are secret, and passwords piped into a command."""
    for at in find_places(text, " -"):
        match = _OPTION.match(text, at + 1)
        if match is not None and _SECRET_OPTION.search(match["name"]) and not _ATTRIBUTE_OPTION.search(match["name"]):
            value = trim_value(match)
            if is_odd_value(value, False) or is_token(value):
                yield from yield_value(match, "password")
            continue
        login = _LOGIN_OPTION.match(text, at + 1)
        if login is not None and is_odd_value(trim_value(login), False):
            yield from yield_value(login, "password")
    for word in ("pass:", "chpasswd", "sudo -s", "password-stdin", "--stdin", "--with-token"):
        for at in find_places(lowered, word):
            if word == "pass:":
                match = _PASS_ARGUMENT.match(text, at)
                if lowered.startswith("-pass", max(0, lowered.rfind(" -", max(0, at - 12), at) + 1)):
                    yield from yield_value(match, "password")
                continue
            line = max(text.rfind("\n", max(0, at - 300), at) + 1, at - 300)
            start = max(text.rfind("echo ", line, at), text.rfind("printf ", line, at))
            if start >= 0:
                yield from yield_value(_PIPED_VALUE.match(text, start, at), "password")
