"""Finds secrets by their position: after a name, in a header, a URL or a command."""

from __future__ import annotations

import re
from collections.abc import Set
from urllib.parse import unquote

from lerim.redaction.values import (
    PLACEHOLDER,
    SAMPLE,
    NameGroup,
    Span,
    find_places,
    is_unlike_words,
    looks_random,
    select_found_names,
)

# lower case; a password may be any word, so its name is enough; the others must look random
PASSWORDS = NameGroup(("pass", "pwd"))
WORDS = {
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
}
_WORDS = NameGroup(WORDS)
_QUERY = NameGroup(("key=", "sig=", "signature=", "auth=", "code="))
_QUERY_VALUE = re.compile(r"[^\s&;?\"'<>#`)\]]{8,800}")
_VALUES = ("escaped", "double", "single", "tick", "bare")
_ASSIGNED = re.compile(
    r"(?P<suffix>[A-Za-z0-9_-]{0,24})\\{0,3}[\"'`]?\]?[ \t]{0,40}(?P<sign>=>|:=|==?|:)(?P<gap>\s{0,4})(?:"
    r"\\{1,3}\"(?P<escaped>[^\"\n]{1,400}?)(?=\\{1,3}\")|"
    r"[bfru]{0,2}\"(?P<double>(?:[^\"\\\n]|\\.){1,400})\"|[bfru]{0,2}'(?P<single>(?:[^'\\\n]|\\.){1,400})'|"
    r"`(?P<tick>[^`\n]{1,400})`|(?P<bare>[^\s\"'`,;(){}<>\\&“”„«»]{4,400}))"
)
_HEAD = re.compile(r"(?:word|wd|phrase)?", re.IGNORECASE)  # what follows "pass" in names of passwords
_SPOKEN = re.compile(r"\s{1,2}(?:is|was)\s{1,2}[\"'`]?(?P<bare>[^\s\"'`,;]{6,200})")
_BESIDE = re.compile(r"[ \t]{1,2}(?:\"(?P<double>[^\"\s]{4,200})\"|'(?P<single>[^'\s]{4,200})')")
_ELEMENT = re.compile(r">(?P<bare>[^<>\s]{4,200})</")
_OPTION = re.compile(r"\s{1,3}[\"']?(?P<bare>[^\s\"'-][^\s\"']{5,200})")
_NETRC = re.compile(r"login\s{1,8}\S{1,120}\s{1,8}password\s{1,8}(?P<bare>\S{1,200})")
_BEARER = re.compile(r"(?i:bearer|basic|token)\s{1,2}(?P<value>[A-Za-z0-9._~+/-]{12,2000}={0,2})")
_COOKIE = re.compile(r"[\"'\]]{0,2}\s{0,2}[:=]\s{0,2}[\"']?(?=[A-Za-z0-9_.-]{1,80}=)")
_PAIR = re.compile(r"(?:;\s?)?(?P<name>[A-Za-z0-9_.-]{1,80})(?:=(?P<value>[^\s;,\"'\\]{0,4000}))?")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority"})
_VALUE = r"(?:\"(?P<double>[^\"\n]{1,200})\"|'(?P<single>[^'\n]{1,200})'|(?P<bare>[^\s\"'|;&-][^\s\"'|;&]{0,200}))"
_LOGIN = (
    r"\s{0,3}=?(?:\"[^\":\n]{0,120}:(?P<double>[^\"\n]{1,200})\"|'[^':\n]{0,120}:(?P<single>[^'\n]{1,200})'|"
    r"[^\s\"':]{1,120}:(?P<bare>[^\s\"'|;&]{1,200}))"
)
_PROGRAMS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    (" -p", ("mysql", "mariadb"), re.compile(rf" -p{_VALUE}")),
    (" -p", ("sshpass", "docker login", "podman login", "mongo", "az login"), re.compile(rf" -p\s{{0,3}}{_VALUE}")),
    (" -u", ("curl",), re.compile(rf" -u{_LOGIN}")),
    (" --user", ("curl",), re.compile(rf" --user{_LOGIN}")),
    (" --proxy-user", ("curl",), re.compile(rf" --proxy-user{_LOGIN}")),
    (" -P", ("mosquitto",), re.compile(rf" -P\s{{1,3}}{_VALUE}")),
    (" -a", ("redis-cli",), re.compile(rf" -a\s{{1,3}}{_VALUE}")),
)
_NAMED_PROGRAMS = NameGroup(("mysql", "mariadb", "sshpass", "login", "mongo", "curl", "redis-cli", "mosquitto"))
SEARCHED_NAMES = (*PASSWORDS, *_WORDS, *_NAMED_PROGRAMS, *_QUERY, "authorization", "bearer", "cookie")
_AUTHORITY = re.compile(r"://(?P<user>[^\s:@/\"'<>`]{0,120}):(?P<value>[^\s/\"'<>`]{1,200})@")
_SLASHED = re.compile(
    r"://(?P<user>[^\s:@/\"'<>`]{0,120}):(?!\d{1,5}[/?#])(?P<value>[^\s@\"'<>`]{1,200}(?:@[^\s/\"'<>`]{1,100}(?=@))?)@"
)
_PORT = re.compile(r"^\d{1,5}[/?#]")
_NAME = re.compile(r"^[A-Za-z_][A-Za-z_]{0,60}(?:[.\[:-]{1,2}[A-Za-z_][\w\]]{0,60}){0,8}$")
_UNUSUAL = re.compile(r"[0-9!@#$%^&*?~+=]")  # in passwords, but not in ordinary words
_PLAIN = re.compile(r"^[a-z]+(?:(?:-[a-z]+){2,8})?$|^[A-Z][a-z]+$")
_STAGE = re.compile(r"^[_-]?(?:\d{1,3}|prod|production|dev|test|staging|stage|live)$", re.IGNORECASE)
_WORDS_JOINED = re.compile(r"[a-z0-9_-]{0,28}\Z")
_ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]{1,20}://")
_IDENTIFIER = re.compile(r"^[A-Za-z_&*][\w.:?|-]{0,200}$")
_SUBSCRIPT = re.compile(r"[A-Za-z_][\w.]{0,80}\[")
_PATHLIKE = re.compile(r"^(?:~|\.{1,2})?/(?![A-Za-z0-9+/]{39}\Z)|^[A-Za-z]:\\|^\\")
_ABOUT = re.compile(  # endings of names that describe a password but do not contain it
    r"len|min|max|hash|file|path|url|uri|field|input|polic|reset|expir|age|count|attempt|retr|time|label|hint|"
    r"streng|form|col|name|type|id$|env|var|requir|valid|confirm|error|msg|message|help|text|prompt|change|manager|"
    r"less|protect|auth|login|enabled|salt|rule|mgr|command|cmd|store|s$|_at$",
    re.IGNORECASE,
)
_ORDINARY = (
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
_NO_PASSWORD = frozenset((*_ORDINARY.split(), "passwort", "kennwort", "contraseña", "wachtwoord", "hasło", "lösenord"))


def find_unnamed_values(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds secrets without a name: in URLs, headers, cookies and commands; `low` is the text in lower case."""
    out: list[Span] = []
    if "://" in text:
        out += _addresses(text)
    if "authorization" in found_parts or "bearer" in found_parts:
        out += _headers(text, lowered)
    if "cookie" in found_parts:
        out += _cookies(text, lowered)
    if select_found_names(_NAMED_PROGRAMS, found_parts):
        out += _commands(text, lowered)
    if "=" in text:
        out += _queries(text, lowered, found_parts)
    return out


def find_named_values(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds secrets that are assigned to a name."""
    out: list[Span] = []
    for word in select_found_names(PASSWORDS, found_parts):
        done = 0
        for at in find_places(lowered, word):
            if at >= done and (password := _password(text, lowered, at, word)):
                out.append(password)
                done = password.end
    for word in select_found_names(_WORDS, found_parts):
        done, kind = 0, WORDS[word]
        for at in find_places(lowered, word):
            if at < done:
                continue
            end = at + len(word)
            match = _ASSIGNED.match(text, end)
            if match is None and lowered.startswith("--", max(0, at - 2)):
                match = _OPTION.match(text, end)
            if match is None:
                continue
            group = _group(match)
            if is_token(match[group], _suffix(match)) and not (group == "bare" and _called(text, match)):
                out.append(Span(*match.span(group), kind))
                done = match.end(group)
    return out


def _group(match: re.Match[str]) -> str:
    return next(name for name in _VALUES if name in match.re.groupindex and match[name])


def _suffix(match: re.Match[str]) -> str:
    return match["suffix"] if "suffix" in match.re.groupindex else ""


def is_token(value: str, suffix: str = "") -> bool:
    """Returns whether a value looks like a token; its name already calls it one."""
    value = value.strip()
    if len(value) < 12 or value.isdigit() or " " in value:
        return False
    if value.isalpha() and value.isascii():
        return is_unlike_words(value) and not SAMPLE.search(value)
    if not _UNUSUAL.search(value):
        return len(value) >= 24 and is_unlike_words(value) and not SAMPLE.search(value) and not _NAME.match(value)
    if _NAME.match(value) and not any(map(_jumbled, re.split(r"[.\[:-]", value))):
        return False
    if SAMPLE.search(value) or _ADDRESS.match(value) or (suffix.lower().endswith("id") and value.count("-") == 4):
        return False  # neither a token's id nor its URL is a token
    return looks_random(value)


def _jumbled(part: str) -> bool:
    """Returns whether a part of a dotted value is not a name that a person would choose."""
    mixed = part.lower() != part != part.upper()
    return len(part) >= 16 and sum(map(str.isdigit, part)) >= 3 and (mixed or is_unlike_words(part))


def _password(text: str, lowered: str, at: int, word: str) -> Span | None:
    """Returns the value of the password name that begins at `at`, None if it has none."""
    before = text[at - 1] if at else ""
    end = at + len(word)
    head = _HEAD.match(text, end) if word == "pass" else None
    whole = head is None or bool(head.group())  # `password`, not only `pass`
    if head is not None:
        end = head.end()
    if not whole and before.isalnum() and not (before.islower() and text[at] == "P"):
        return None  # bypass, compass
    match = _ASSIGNED.match(text, end)
    if match is not None:
        compound = before in ("_", "-", ".") or before.islower()
        group = _group(match)
        if (
            match[group].startswith("-")
            and "${" in text[max(0, at - 40) : at]
            and not is_odd_value(match[group][1:].rstrip("}"), False)
        ):
            return None  # a shell's default for an unset variable
        if not whole:
            if match["suffix"] and not _STAGE.match(match["suffix"]):
                return None  # passed, pass_through
            if not compound and (match[group].isdigit() or match["sign"] != "=" or match["gap"]):
                return None  # the number of passed tests in a report
        loud = compound or text[at:end].isupper() or bool(_STAGE.match(match["suffix"]))
        return Span(*match.span(group), "password") if _assigned(text, match, group, loud=loud) else None
    match = _beside(text, lowered, at, end) if whole else None
    if match is None:
        option = lowered.rfind("--", max(0, at - 30), at)
        match = _OPTION.match(text, end) if option >= 0 and _WORDS_JOINED.match(lowered, option + 2, at) else None
        if match is None or not is_odd_value(match["bare"], False):
            return None
    return Span(*match.span(_group(match)), "password")


def _beside(text: str, lowered: str, at: int, end: int) -> re.Match[str] | None:
    """Matches a password without an assignment sign: in a sentence, in quotes, in an XML element, in a netrc file."""
    match = _SPOKEN.match(text, end)
    if match is not None:
        return match if is_odd_value(match["bare"], False) else None
    login = lowered.rfind("login", max(0, at - 160), at)
    match = _BESIDE.match(text, end)
    if match is None and text.startswith(">", end) and "<" in text[max(0, at - 24) : at]:
        match = _ELEMENT.match(text, end)
    if match is None and login >= 0:
        match = _NETRC.match(text, login)
        if match is not None and match.start("bare") <= end:
            match = None
    return match if match is not None and _guessable(match[_group(match)]) else None


def _assigned(text: str, match: re.Match[str], group: str, *, loud: bool) -> bool:
    """Returns whether a value assigned to a password name is a password; `loud`: the name is like `PASSWORD` or
    `db_password`."""
    value, suffix = match[group].strip(), match["suffix"]
    quoted = group != "bare"
    if is_odd_value(value, quoted) and not (not quoted and _called(text, match)):
        return True
    if "\n" in match["gap"] or _ABOUT.search(suffix) or (suffix and suffix[0].isalpha()):
        return False
    if value.isdigit():
        return 4 <= len(value) <= 40
    if not _guessable(value) or " " in value:
        return False
    if quoted:
        return True
    if _called(text, match) or match["sign"] in ("=>", "=="):
        return False
    if _PLAIN.match(value):
        if loud and match["gap"] == "":
            return True
        rest = text[match.end() : match.end() + 2]
        ends = not rest.strip(" \t") or rest[0] in "\n\r;,\"'`)}" or match["gap"] == ""
        return (ends and (loud or len(value) >= 6)) or (loud and match["sign"] == ":")
    if not _IDENTIFIER.match(value):
        return True
    # an identifier is a variable, except in a shell assignment
    return loud and match["gap"] == "" and match["sign"] == "="


def _called(text: str, match: re.Match[str]) -> bool:
    """Returns whether a bare value is code: a call, a subscript, a type with arguments."""
    after = text[match.end() : match.end() + 1] or " "
    return after in ("(", "<", "{") or bool(_SUBSCRIPT.match(match["bare"]))


def is_odd_value(value: str, quoted: bool) -> bool:
    """Returns whether a value looks like a password: not an ordinary word, a name or a placeholder."""
    if not quoted:
        value = value.rstrip(".,!?:)")
    if value.isalpha() and is_unlike_words(value):
        return not PLACEHOLDER.search(value[:80])
    if len(value) < 4 or (value.isdigit() and (quoted or len(value) < 6)) or not _UNUSUAL.search(value):
        return False
    if " " in value or _NAME.match(value) or PLACEHOLDER.search(value[:80]):
        return False
    return quoted or not ("(" in value or _PATHLIKE.match(value))


def _guessable(value: str) -> bool:
    """Returns whether a value may be a password however ordinary it looks, because its name says so."""
    lowered = value.strip("\"'`.,!?;:)*").lower()
    if len(lowered) < 4 or lowered in _NO_PASSWORD or PLACEHOLDER.search(value[:80]) or _PATHLIKE.match(value):
        return False
    return not (re.fullmatch(r"[\w.-]{1,200}", lowered) and re.search(r"pass(?:word|wd|phrase)|(?:^|_)pwd", lowered))


def _addresses(text: str) -> list[Span]:
    out = []
    done = 0
    for at in find_places(text, "://"):
        if at < done or text.find("@", at, at + 450) < 0:
            continue
        match = _AUTHORITY.match(text, at)
        if match is None or _PORT.match(match["value"]):
            match = _SLASHED.match(text, at)
        if match is None:
            continue
        done = match.end()
        if not PLACEHOLDER.search(match["value"][:80]) and match["value"].lower() not in _NO_PASSWORD:
            out.append(Span(*match.span("value"), "url-password"))
    return out


def _headers(text: str, lowered: str) -> list[Span]:
    out = []
    for word in ("bearer ", "basic ", "token "):
        for at in find_places(lowered, word):
            match = _BEARER.match(text, at)
            named = "authorization" in lowered[max(0, at - 24) : at]
            if match is None or not (named or word == "bearer "):
                continue
            value = match["value"]
            sure = named and (word == "basic " or (len(value) >= 20 and any(map(str.isdigit, value))))
            if not PLACEHOLDER.search(value[:80]) and (sure or looks_random(value)):
                out.append(Span(*match.span("value"), "authorization"))
    return out


def _cookies(text: str, lowered: str) -> list[Span]:
    out = []
    done = 0
    for at in find_places(lowered, "cookie"):
        head = _COOKIE.match(text, at + 6)
        if head is None or at < done:
            continue
        done = head.end()
        for _ in range(50):
            pair = _PAIR.match(text, done)
            if pair is None:
                break
            done = pair.end()
            value = pair["value"] or ""
            told = len(value) >= 6 and (bool(_UNUSUAL.search(value)) or len(value) >= 16)
            if told and pair["name"].lower() not in _ATTRIBUTES and not PLACEHOLDER.search(value[:80]):
                out.append(Span(*pair.span("value"), "cookie"))
            if not text.startswith(";", done):
                break
    return out


def _commands(text: str, lowered: str) -> list[Span]:
    out = []
    for flag, programs, pattern in _PROGRAMS:
        if not any(program in lowered for program in programs):
            continue
        for at in find_places(text, flag):
            match = pattern.match(text, at)
            if match is None:
                continue
            line = lowered[max(0, at - 200) : at].replace("\\\n", "  ")
            line = re.split(r"[\n;|&]", line)[-1]
            group = _group(match)
            value = match[group]
            ports = group == "bare" and re.fullmatch(r"\d{1,5}(?::\d{1,5})?(?:/tcp|/udp)?", value)
            if any(program in line for program in programs) and not ports and not _nothing(value):
                out.append(Span(*match.span(group), "password"))
    return out


def _nothing(value: str) -> bool:
    return value.lower() in _NO_PASSWORD or bool(PLACEHOLDER.search(value[:80])) or bool(_PATHLIKE.match(value))


def _queries(text: str, lowered: str, found_parts: Set[str]) -> list[Span]:
    """Finds keys and signatures in the queries of URLs."""
    out = []
    for word in select_found_names(_QUERY, found_parts):
        for at in find_places(lowered, word):
            start = at
            while start > at - 30 and start and (lowered[start - 1].isalnum() or lowered[start - 1] in "_-"):
                start -= 1
            if not start or lowered[start - 1] not in "?&;":
                continue
            match = _QUERY_VALUE.match(text, at + len(word))
            if match and looks_random(unquote(match.group())):
                out.append(Span(*match.span(), "url-key"))
    return out
