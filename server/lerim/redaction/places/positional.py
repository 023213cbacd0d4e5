"""Finds secrets by their position: after a name, in Authorization and Cookie headers, in a URL, or as the password of a
program such as `mysql -p…`."""

from __future__ import annotations

import re
from collections.abc import Set
from urllib.parse import unquote

from lerim.patterns import compile_later
from lerim.redaction.values import (
    NameGroup,
    Span,
    find_places,
    is_placeholder,
    is_sample,
    is_unlike_words,
    looks_random,
    select_found_names,
)

# In lower case. A password may be any word, so its name is enough; values of the other names must look random.
_PASSWORD_NAMES = NameGroup(("pass", "pwd"))
_KINDS_BY_NAME = {
    "secret": "secret",
    "token": "token",
    "api_key": "api-key",
    "apikey": "api-key",
    "api-key": "api-key",
    "access_key": "secret",
    "accesskey": "secret",
    "private_key": "secret",
    "privatekey": "secret",
    "credential": "secret",
    "auth_key": "secret",
    "encryption_key": "secret",
    "signing_key": "secret",
    "authorization": "authorization",
    "api.key": "api-key",
    **dict.fromkeys(
        ("access.key", "auth.key", "encryption.key", "license.key", "private.key", "signing.key"), "secret"
    ),
}
_TOKEN_NAMES = NameGroup(_KINDS_BY_NAME)
_QUERY_NAMES = NameGroup(("key=", "sig=", "signature=", "auth=", "code="))
_QUERY_VALUE = compile_later(r"[^\s&;?\"'<>#`)\]]{8,800}")
_VALUE_GROUPS = ("escaped", "double", "single", "tick", "bare")
_ASSIGNMENT = compile_later(
    r"(?P<suffix>[A-Za-z0-9_-]{0,24})\\{0,3}[\"'`]?\]?(?:\*\*)?[ \t]{0,40}(?P<sign>=>|:=|==?|:)"
    r"(?:(?<=:)\*\*(?=\s))?(?P<gap>\s{0,4})(?:"
    r"\\{1,3}\"(?P<escaped>[^\"\n]{1,400}?)(?=\\{1,3}\")|"
    r"[bfru]{0,2}\"(?P<double>(?:[^\"\\\n]|\\.){1,400})\"|[bfru]{0,2}'(?P<single>(?:[^'\\\n]|\\.){1,400})'|"
    r"(?:\*\*)?`(?P<tick>[^`\n]{1,400})`|(?P<bare>[^\s\"'`,;(){}<>\\&“”„«»]{4,400}))"
)
"""The name may be bold in markdown, and so may a value in code."""
_REST_OF_PASSWORD = compile_later(r"(?:word|wd|phrase)?", re.IGNORECASE)  # what follows "pass" in names of passwords
_QUOTED_PASSWORD = compile_later(r"[ \t]{1,2}(?:\"(?P<double>[^\"\s]{4,200})\"|'(?P<single>[^'\s]{4,200})')")
_XML_ELEMENT = compile_later(r">(?P<bare>[^<>\s]{4,200})</")
_OPTION_VALUE = compile_later(r"\s{1,3}[\"']?(?P<bare>[^\s\"'-][^\s\"']{5,200})")
_NETRC_LOGIN = compile_later(r"login\s{1,8}\S{1,120}\s{1,8}password\s{1,8}(?P<bare>\S{1,200})")
_AUTHORIZATION = compile_later(r"(?i:bearer|basic|token)\s{1,2}(?P<value>[A-Za-z0-9._~+/-]{12,2000}={0,2})")
_COOKIE_HEADER = compile_later(r"(?:[\"'\]]{0,2}\s{0,2}[:=]\s{0,2}[\"']?|\n[ \t]{1,8})(?=[A-Za-z0-9_.-]{1,80}=)")
_COOKIE_PAIR = compile_later(r"(?:;\s?)?(?P<name>[A-Za-z0-9_.-]{1,80})(?:=(?P<value>[^\s;,\"'\\]{0,4000}))?")
_COOKIE_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority"})
_ARGUMENT = r"(?:\"(?P<double>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'|(?P<bare>[^\s\"'|;&-][^\s\"'|;&]{0,200}))"
_USER_AND_PASSWORD = (
    r"\s{0,3}=?(?:\"[^\":\n]{0,120}:(?P<double>[^\"\n]{1,200})\"|'[^':\n]{0,120}:(?P<single>[^'\n]{1,200})'|"
    r"[^\s\"':]{1,120}:(?P<bare>[^\s\"'|;&]{1,200}))"
)
_PASSWORD_OPTIONS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (" -p", ("mysql", "mariadb"), compile_later(rf" -p{_ARGUMENT}")),
    (
        " -p",
        ("sshpass", "docker login", "podman login", "mongo", "az login"),
        compile_later(rf" -p\s{{0,3}}{_ARGUMENT}"),
    ),
    (" -", ("curl",), compile_later(rf" -[A-Za-z]{{0,8}}u{_USER_AND_PASSWORD}")),
    (" --user", ("curl",), compile_later(rf" --user{_USER_AND_PASSWORD}")),
    (" --proxy-user", ("curl",), compile_later(rf" --proxy-user{_USER_AND_PASSWORD}")),
    (" -P", ("mosquitto",), compile_later(rf" -P\s{{1,3}}{_ARGUMENT}")),
    (" -a", ("redis-cli",), compile_later(rf" -a\s{{1,3}}{_ARGUMENT}")),
)
_PROGRAM_NAMES = NameGroup(("mysql", "mariadb", "sshpass", "login", "mongo", "curl", "redis-cli", "mosquitto"))
SEARCHED_NAMES = (*_PASSWORD_NAMES, *_TOKEN_NAMES, *_PROGRAM_NAMES, *_QUERY_NAMES, "authorization", "bearer", "cookie")
_URL_PASSWORD = compile_later(r"://(?P<user>[^\s:@/\"'<>`]{0,120}):(?P<value>[^\s/\"'<>`]{1,200})@")
_URL_PASSWORD_WITH_SLASH = compile_later(
    r"://(?P<user>[^\s:@/\"'<>`]{0,120}):(?!\d{1,5}[/?#])(?P<value>[^\s@\"'<>`]{1,200}(?:@[^\s/\"'<>`]{1,100}(?=@))?)@"
)
_PORT = compile_later(r"^\d{1,5}[/?#]")
_DOTTED_NAME = compile_later(r"^[A-Za-z_][A-Za-z_]{0,60}(?:[.\[:-]{1,2}[A-Za-z_][\w\]]{0,60}){0,8}$")
_UNUSUAL_CHARACTER = compile_later(r"[0-9!@#$%^&*?~+=]")  # in passwords, but not in ordinary words
_ORDINARY_WORDS = compile_later(r"^[a-z]+(?:(?:-[a-z]+){2,8})?$|^[A-Z][a-z]+$")
_STAGE_SUFFIX = compile_later(r"^[_-]?(?:\d{1,3}|prod|production|dev|test|staging|stage|live)$", re.IGNORECASE)
_JOINED_WORDS = compile_later(r"[a-z0-9_-]{0,28}\Z")
_URL = compile_later(r"^[a-z][a-z0-9+.-]{1,20}://")
_IDENTIFIER = compile_later(r"^[A-Za-z_&*][\w.:?|-]{0,200}$")
_SUBSCRIPT = compile_later(r"[A-Za-z_][\w.]{0,80}\[")
_PATH = compile_later(r"^(?:~|\.{1,2})?/(?![A-Za-z0-9+/]{39}\Z)|^[A-Za-z]:\\|^\\")
_ATTRIBUTE_OF_PASSWORD = compile_later(  # endings of names that describe a password but do not contain it
    r"len|min|max|hash|file|path|url|uri|field|input|polic|reset|expir|age|count|attempt|retr|time|label|hint|"
    r"streng|form|col|name|type|id$|env|var|requir|valid|confirm|error|msg|message|help|text|prompt|change|manager|"
    r"less|protect|auth|login|enabled|salt|rule|mgr|command|cmd|store|s$|_at$",
    re.IGNORECASE,
)
_COMMON_VALUES = (
    "none null nil true false yes off enabled disabled string strings str text bytes bool boolean int integer "
    "number object any char varchar buffer unicode required require optional option changeme change undefined "
    "empty blank hidden masked hashed hash encrypted invalid valid wrong incorrect missing unknown unset default "
    "password passwords passwd passphrase pass pwd secret token value input prompt field plaintext plain stdin "
    "file vault keyring self this user username name email data body params args kwargs credentials result "
    "response request form state props raw current previous confirm confirmation same never always only must "
    "should todo test testing example sample sure hint label placeholder type generate generated random reset "
    "expired sensitive private public static const let var void return async await lambda typing click environ "
    "environment setting settings config configuration argument flag bcrypt argon scrypt sha secretstr charfield "
    "textfield password_hash not the your new old and for was with from that when where which what"
)
_NO_PASSWORDS = frozenset(
    (*_COMMON_VALUES.split(), "passwort", "kennwort", "contraseña", "wachtwoord", "hasło", "lösenord")
)


def find_unnamed_values(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds secrets that are not assigned to a name: in URLs, headers, cookies and commands."""
    spans: list[Span] = []
    if "://" in text:
        spans += _find_url_passwords(text)
    if "authorization" in found_parts or "bearer" in found_parts:
        spans += _find_authorization(text, lowered)
    if "cookie" in found_parts:
        spans += _find_cookies(text, lowered)
    if select_found_names(_PROGRAM_NAMES, found_parts):
        spans += _find_command_passwords(text, lowered)
    if "=" in text:
        spans += _find_url_keys(text, lowered, found_parts)
    return spans


def find_named_values(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds secrets that are assigned to a name."""
    spans: list[Span] = []
    for word in select_found_names(_PASSWORD_NAMES, found_parts):
        searched_to = 0
        for at in find_places(lowered, word):
            if at >= searched_to and (password := _find_password(text, lowered, at, word)):
                spans.append(password)
                searched_to = password.end
    for word in select_found_names(_TOKEN_NAMES, found_parts):
        searched_to, kind = 0, _KINDS_BY_NAME[word]
        for at in find_places(lowered, word):
            if at < searched_to:
                continue
            end = at + len(word)
            match = _ASSIGNMENT.match(text, end)
            if match is None and lowered.startswith("--", max(0, at - 2)):
                match = _OPTION_VALUE.match(text, end)
            if match is None:
                continue
            group = _get_value_group(match)
            if is_token(match[group], _get_suffix(match)) and not (group == "bare" and _is_code(text, match)):
                spans.append(Span(*match.span(group), kind))
                searched_to = match.end(group)
    return spans


def _get_value_group(match: re.Match[str]) -> str:
    return next(name for name in _VALUE_GROUPS if name in match.re.groupindex and match[name])


def _get_suffix(match: re.Match[str]) -> str:
    return match["suffix"] if "suffix" in match.re.groupindex else ""


def is_token(value: str, suffix: str = "") -> bool:
    """Returns whether a value after a token's name looks like a token; `suffix` is the rest of that name."""
    value = value.strip()
    if len(value) < 12 or value.isdigit() or " " in value:
        return False
    if value.isalpha() and value.isascii():
        return is_unlike_words(value) and not is_sample(value)
    if _DOTTED_NAME.match(value) and not any(map(_is_jumbled, re.split(r"[.\[:-]", value))):
        return False
    if is_sample(value) or _URL.match(value) or (suffix.lower().endswith("id") and value.count("-") == 4):
        return False  # neither a token's id nor its URL is a token
    return looks_random(value)


def _is_jumbled(part: str) -> bool:
    """Returns whether a part of a dotted value is not a name that a person would choose."""
    mixed = part.lower() != part != part.upper()
    return len(part) >= 16 and sum(map(str.isdigit, part)) >= 3 and (mixed or is_unlike_words(part))


def _find_password(text: str, lowered: str, at: int, word: str) -> Span | None:
    """Returns the value of the password name that begins at `at`, None if it has none."""
    before = text[at - 1] if at else ""
    end = at + len(word)
    head = _REST_OF_PASSWORD.match(text, end) if word == "pass" else None
    is_whole_name = head is None or bool(head.group())  # `password`, not only `pass`
    if head is not None:
        end = head.end()
    if not is_whole_name and before.isalnum() and not (before.islower() and text[at] == "P"):
        return None  # bypass, compass
    match = _ASSIGNMENT.match(text, end)
    if match is not None:
        is_compound_name = before in ("_", "-", ".") or before.islower()
        group = _get_value_group(match)
        if (
            match[group].startswith("-")
            and "${" in text[max(0, at - 40) : at]
            and not is_odd_value(match[group][1:].rstrip("}"), False)
        ):
            return None  # a shell's default for an unset variable
        if not is_whole_name:
            if match["suffix"] and not _STAGE_SUFFIX.match(match["suffix"]):
                return None  # passed, pass_through
            if not is_compound_name and (match[group].isdigit() or match["sign"] != "=" or match["gap"]):
                return None  # the number of passed tests in a report
        is_clear_name = is_compound_name or text[at:end].isupper() or bool(_STAGE_SUFFIX.match(match["suffix"]))
        return (
            Span(*match.span(group), "password")
            if _is_assigned_password(text, match, group, is_clear_name=is_clear_name)
            else None
        )
    match = _match_password_beside(text, lowered, at, end) if is_whole_name else None
    if match is None:
        option = lowered.rfind("--", max(0, at - 30), at)
        match = _OPTION_VALUE.match(text, end) if option >= 0 and _JOINED_WORDS.match(lowered, option + 2, at) else None
        if match is None or not is_odd_value(match["bare"], False):
            return None
    return Span(*match.span(_get_value_group(match)), "password")


def _match_password_beside(text: str, lowered: str, at: int, end: int) -> re.Match[str] | None:
    """Matches a password without an assignment sign: in quotes, in an XML element, in a netrc file."""
    login = lowered.rfind("login", max(0, at - 160), at)
    match = _QUOTED_PASSWORD.match(text, end)
    if match is None and text.startswith(">", end) and "<" in text[max(0, at - 24) : at]:
        match = _XML_ELEMENT.match(text, end)
    if match is None and login >= 0:
        match = _NETRC_LOGIN.match(text, login)
    return match if match is not None and _may_be_password(match[_get_value_group(match)]) else None


def _is_assigned_password(text: str, match: re.Match[str], group: str, *, is_clear_name: bool) -> bool:
    """Returns whether a value assigned to a password name is a password; `is_clear_name`: the name is like
    `PASSWORD` or `db_password`."""
    value, suffix = match[group].strip(), match["suffix"]
    quoted = group != "bare"
    if is_odd_value(value, quoted) and not (not quoted and _is_code(text, match)):
        return True
    if "\n" in match["gap"] or _ATTRIBUTE_OF_PASSWORD.search(suffix) or (suffix and suffix[0].isalpha()):
        return False
    if value.isdigit():
        return 4 <= len(value) <= 40
    if not _may_be_password(value) or " " in value:
        return False
    if quoted:
        return True
    if _is_code(text, match) or match["sign"] in ("=>", "=="):
        return False
    if _ORDINARY_WORDS.match(value):
        if is_clear_name and match["gap"] == "":
            return True
        rest = text[match.end() : match.end() + 2]
        ends_value = not rest.strip(" \t") or rest[0] in "\n\r;,\"'`)}" or match["gap"] == ""
        return (ends_value and (is_clear_name or len(value) >= 6)) or (is_clear_name and match["sign"] == ":")
    if not _IDENTIFIER.match(value):
        return True
    # an identifier is a variable, except in a shell assignment
    return is_clear_name and match["gap"] == "" and match["sign"] == "="


def _is_code(text: str, match: re.Match[str]) -> bool:
    """Returns whether a bare value is code: a call, a subscript, a type with arguments."""
    after = text[match.end() : match.end() + 1] or " "
    return after in ("(", "<", "{") or bool(_SUBSCRIPT.match(match["bare"]))


def is_odd_value(value: str, quoted: bool) -> bool:
    """Returns whether a value looks like a password: not an ordinary word, a name or a placeholder. An unquoted value
    must not look like a call or a path either."""
    if not quoted:
        value = value.rstrip(".,!?:)")
    if value.isalpha() and is_unlike_words(value):
        return not is_placeholder(value)
    if len(value) < 4 or (value.isdigit() and (quoted or len(value) < 6)) or not _UNUSUAL_CHARACTER.search(value):
        return False
    if " " in value or _DOTTED_NAME.match(value) or is_placeholder(value):
        return False
    return quoted or not ("(" in value or _PATH.match(value))


def _may_be_password(value: str) -> bool:
    """Returns whether a value may be a password however ordinary it looks, because its name says so."""
    lowered = value.strip("\"'`.,!?;:)*").lower()
    if len(lowered) < 4 or lowered in _NO_PASSWORDS or is_placeholder(value) or _PATH.match(value):
        return False
    return not (re.fullmatch(r"[\w.-]{1,200}", lowered) and re.search(r"pass(?:word|wd|phrase)|(?:^|_)pwd", lowered))


def _find_url_passwords(text: str) -> list[Span]:
    spans = []
    searched_to = 0
    for at in find_places(text, "://"):
        if at < searched_to or text.find("@", at, at + 450) < 0:
            continue
        match = _URL_PASSWORD.match(text, at)
        if match is None or _PORT.match(match["value"]):
            match = _URL_PASSWORD_WITH_SLASH.match(text, at)
        if match is None:
            continue
        searched_to = match.end()
        if not is_placeholder(match["value"]) and match["value"].lower() not in _NO_PASSWORDS:
            spans.append(Span(*match.span("value"), "url-password"))
    return spans


def _find_authorization(text: str, lowered: str) -> list[Span]:
    spans = []
    for word in ("bearer ", "basic ", "token "):
        for at in find_places(lowered, word):
            match = _AUTHORIZATION.match(text, at)
            is_named = "authorization" in lowered[max(0, at - 24) : at]
            if match is None or not (is_named or word == "bearer "):
                continue
            value = match["value"]
            is_certain = is_named and (word == "basic " or (len(value) >= 20 and any(map(str.isdigit, value))))
            if not is_placeholder(value) and (is_certain or looks_random(value)):
                spans.append(Span(*match.span("value"), "authorization"))
    return spans


def _find_cookies(text: str, lowered: str) -> list[Span]:
    spans = []
    searched_to = 0
    for at in find_places(lowered, "cookie"):
        head = _COOKIE_HEADER.match(text, at + 6)
        if head is None or at < searched_to:
            continue
        searched_to = head.end()
        for _ in range(50):
            pair = _COOKIE_PAIR.match(text, searched_to)
            if pair is None:
                break
            searched_to = pair.end()
            value = pair["value"] or ""
            is_value = len(value) >= 6 and (bool(_UNUSUAL_CHARACTER.search(value)) or len(value) >= 16)
            if is_value and pair["name"].lower() not in _COOKIE_ATTRIBUTES and not is_placeholder(value):
                spans.append(Span(*pair.span("value"), "cookie"))
            if not text.startswith(";", searched_to):
                break
    return spans


def _find_command_passwords(text: str, lowered: str) -> list[Span]:
    spans = []
    for flag, programs, pattern in _PASSWORD_OPTIONS:
        if not any(program in lowered for program in programs):
            continue
        for at in find_places(text, flag):
            match = pattern.match(text, at)
            if match is None:
                continue
            line = lowered[max(0, at - 200) : at].replace("\\\n", "  ")
            line = re.split(r"[\n;|&]", line)[-1]
            group = _get_value_group(match)
            value = match[group]
            is_port_mapping = group == "bare" and re.fullmatch(r"\d{1,5}(?::\d{1,5})?(?:/tcp|/udp)?", value)
            if any(program in line for program in programs) and not is_port_mapping and not _is_no_password(value):
                spans.append(Span(*match.span(group), "password"))
    return spans


def _is_no_password(value: str) -> bool:
    return value.lower() in _NO_PASSWORDS or is_placeholder(value) or bool(_PATH.match(value))


def _find_url_keys(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds keys and signatures in the queries of URLs."""
    spans = []
    for word in select_found_names(_QUERY_NAMES, found_parts):
        for at in find_places(lowered, word):
            start = at
            while start > at - 30 and start and (lowered[start - 1].isalnum() or lowered[start - 1] in "_-"):
                start -= 1
            if not start or lowered[start - 1] not in "?&;":
                continue
            match = _QUERY_VALUE.match(text, at + len(word))
            if match and looks_random(unquote(match.group())):
                spans.append(Span(*match.span(), "url-key"))
    return spans
