"""Finds secrets in idioms of particular tools and of everyday language: a literal in the text, and the pattern
around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cache

from lerim.patterns import compile_later
from lerim.redaction.values import (
    NameGroup,
    Span,
    find_places,
    is_placeholder,
    is_sample,
    is_scrambled,
    is_uuid,
    looks_chosen,
    looks_like_password,
    select_found_names,
)

_NAME = r"[\"']?\w{0,40}(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PWD|PW|CREDENTIALS?)(?:_\w{1,12})?[\"']?"
_VALUE = r"(?P<value>[^\s\"'`|,;<>(){}]{8,400})"
_FIELD = r"[\"'][^\"'\n]{0,60}(?i:passw|passwort|kennwort|pwd|contraseña|senha)[^\"'\n]{0,40}"
"""The form field that a script types a password into."""
_IDIOMS = {
    "AUTH=": r"(?<![\w?&.-])AUTH=[\"']?VALUE",
    "#define": r"#\s?define\s{1,8}NAME\s{1,8}(?:F\()?\"VALUE\"",
    'variable "': r"variable \"\w{0,40}(?:token|secret|password|key|pass"
    r"|pwd)\w{0,20}\" ?\{[^{}]{0,300}?default\s{0,12}=\s?\"VALUE\"",
    "<value>": r"(?i:token|secret|password|\.key)[\w.-]{0,20}(?:\"[^<>\n]{0,60}>"
    r"|</name>)\s{0,20}<value>VALUE</value>",
    " value=": r"name=\"[\w.:-]{0,40}(?i:token|secret|password|passwd|api_?key)\w{0,20}\"\s{1,12}value=\"VALUE\"",
    "BUNDLE_": r"BUNDLE_(?<!\w.......)\w{1,60}__\w{1,40}[=:]\s?[\"']?VALUE",
    "_SK=": r"\b[A-Z][A-Z0-9_]{0,40}_SK=[\"']?VALUE",
    "_SECRET=": r"\b[A-Z][A-Z0-9_]{0,40}_SECRET=[\"']?VALUE",
    "_CERTIFICATE=": r"_CERTIFICATE=[\"']?VALUE",
    "auth_pass": r"auth_pass\s{1,4}[\"']?VALUE",
    "]:": r"\]:\d{2,4}\s{1,4}[\w.@+-]{1,60}:VALUE",
    "use ": r"[Uu](?<!\w.)se [\w.@-]{2,40}:VALUE",
    '"username"': r"\"username\"\s?:\s?\"[^\"\n]{1,60}\",\s{0,12}\"key\"\s?:\s?\"VALUE\"",
    '"url"': r"\"url\"\s?:\s?f?\"https?://[^\"/\n]{1,200}/?\",\s{0,20}\"key\"\s?:"
    r"\s?\"(?P<value>[0-9a-fA-F]{32,64})\"",
    "curl": r" -u [\"']?VALUE:[xX]?[\"']?(?=\s|\Z)",
    "/pass": r"[Uu]ser(?:name)?/[Pp]ass(?:word)?\s?[:=]?\s{1,2}[\w.@-]{1,40}/VALUE",
    "mailgun": r"(?<![\w-])(?P<value>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])",
    "PAT": r"PAT(?<!\w...)s?[ :=]{1,3}(?:is )?[\"'`]?VALUE",
    "rzp_": r"rzp_\w{1,40}[\"'`]?\s?[/:,]\s?(?:secret )?[\"'`]?VALUE",
    "auth[": r"auth\[\d{0,3}\] ?= ?\"VALUE\"",
    "appid=": r"(?<![\w])appid=(?P<value>[0-9a-f]{32})\b",
    ":$": r"(?:(?<=\s)|\A)[\w.@-]{1,60}:(?P<value>\$(?:apr1|2[aby]|5|6|y|1)\$[A-Za-z0-9./$=,]{20,160})",
    ":{s": r"(?:(?<=\s)|\A)[\w.@-]{1,60}:\{S?SHA\}(?P<value>[A-Za-z0-9+/=]{20,90})",
    "setenv ": r"setenv\s{1,3}NAME\s{1,3}[\"']?VALUE",
    "ENV ": r"(?:(?<=\n)|\A)[ \t]{0,8}ENV\s{1,3}NAME\s{1,3}[\"']?VALUE",
    "setenvironmentvariable": r"\(\s?NAME\s?,\s?[\"']VALUE[\"']",
    "auth plain": r"(?i:auth plain)[: ]{1,2}(?P<value>[A-Za-z0-9+/]{12,400}={0,2})",
    "identified ": r"(?i:identified (?:with \w{1,40} )?(?:by|as))(?: password)? "
    r"[\"'](?P<value>[^\s\"'%:{$<?]{4,200})[\"']",
    "config set": r"config set (?:[\w.-]{0,30}(?:api|token|key|secret|password))[= ]"
    r"[\"']?(?P<value>[^\s\"'`$<{]{12,300})",
    "oracle:thin:": r"oracle:thin:[\w.$-]{1,60}/(?P<value>[^\s@\"'/]{4,100})@",
    "sqlplus": r"sqlplus\s{1,3}(?:-\w{1,2}\s{1,3}){0,3}[\"']?[\w.$-]{1,60}/[\"']?(?P<value>[^\s@\"'/]{4,100})[\"']?@",
    "assword": r"assword:?[^\n]{0,12}\n[^\n]{0,12}send(?:line)?[ (](?:-- )?\"(?P<value>[^\"\\\n$]{4,100})",
    ".fill(": r"FIELD[\"']\s?(?:,\s?|\)\.fill\(\s?)[\"'](?P<value>[^\s\"'$]{4,100})[\"']",
    ".type(": r"FIELD[\"']\s?(?:,\s?|\)\.type\(\s?)[\"'](?P<value>[^\s\"'$]{4,100})[\"']",
    "send_keys(": r"FIELD[\"']\)?\.send_keys\(\s?[\"'](?P<value>[^\s\"'$]{4,100})[\"']",
    "hook": r"https?://[^\s\"'<>]{0,160}?hook[^\s\"'<>]{0,160}?/(?P<value>[A-Za-z0-9_-]{24,120}(?:/[A-Za-z0-9_-]{8,80}){0,3})",
    "key content": r"(?i:key content)\s{1,12}:\s(?P<value>\S{8,63})",
    "htpasswd": r"htpasswd\s{1,3}-\w{0,3}b\w{0,3}\s{1,3}(?:-\w\s{1,3}){0,3}\S{1,120}\s{1,3}\S{1,60}\s{1,3}[\"']?"
    r"(?P<value>[^\s\"'$<]{4,100})",
    "/user:": r"/user:[^\s\"']{1,80}\s{1,3}[\"']?VALUE",
    "add-mask": r"::add-mask::(?P<value>[^\s\"'$]{4,400})",
    "creds": r"[Cc]reds\s?[:=]?\s{0,2}[\"'`]?[\w.@-]{2,40}\s?[/:]\s?VALUE",
    "pass": r"pass(?:word|phrase|code)[^\n]{0,40}?\b(?:type|enter|use|try|put in)\s{1,2}[\"'`]?VALUE",
    '"value"': r"\w{0,30}(?:password|secret|token|api_key)\w{0,20}\"\s{0,3}:\s{0,3}\{\s{0,20}\"value\"\s{0,3}"
    r":\s{0,3}\"VALUE\"",
    "\ttrue\t": r"[^\s]{1,120}\t(?:TRUE|FALSE)\t[^\s]{0,120}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,80}\tVALUE",
}
_CASE_SENSITIVE = frozenset(("AUTH=", "ENV ", "BUNDLE_", "_SK=", "_SECRET=", "_CERTIFICATE=", "PAT"))
_NOT_IN_WORDS = ("]:", "use ", "ENV ", "PAT", "\ttrue\t")
"""Literals that are searched for in every text, because no word contains them, or too many do."""
_LITERAL_FIRST = frozenset(("]:", "use ", "PAT"))
"""Idioms that begin with their literal, which many texts contain."""
SEARCHED_NAMES = NameGroup(literal for literal in _IDIOMS if literal not in _NOT_IN_WORDS)
_WALLET_KEY = compile_later(r"0x(?<!\w..)(?P<value>[0-9a-f]{64})\b")
_WALLET_WORDS = compile_later(r"accounts|private|mnemonic|deployer|wallet|signer|--key")
_NAMED_IDIOMS = frozenset(
    (
        *(":$", ":{s", "#define", 'variable "', " value=", "_SK=", "_SECRET=", "_CERTIFICATE=", '"username"'),
        *("appid=", "<value>", "mailgun", "config set", "hook", "add-mask", '"url"'),
    )
)
"""Idioms that say what they contain, so even bare hex is a secret in them."""
_CERTAIN_IDIOMS = frozenset(
    (
        *("oracle:thin:", "sqlplus", "assword", "key content", "htpasswd", ":$", ":{s", "appid=", "mailgun"),
        *('"username"', '"url"', "auth plain", "identified ", "add-mask"),
    )
)
"""Idioms whose pattern alone is proof enough."""
_FORM_FILLING = frozenset((".fill(", ".type(", "send_keys("))
_CHARACTERS_BEFORE, _CHARACTERS_AFTER = 200, 900
"""The most characters of an idiom before its literal, and from its literal on."""


@cache
def _compile_idiom(literal: str) -> re.Pattern[str]:
    """Returns the pattern of an idiom, compiled when its literal is first found."""
    return re.compile(_IDIOMS[literal].replace("NAME", _NAME).replace("FIELD", _FIELD).replace("VALUE", _VALUE))


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret in an idiom."""
    if "0x" in text:
        yield from _find_wallet_keys(text, lowered)
    for literal in (*select_found_names(SEARCHED_NAMES, found_parts), *_NOT_IN_WORDS):
        places = find_places(text if literal in _CASE_SENSITIVE else lowered, literal)
        for match in _find_matches(text, literal, places):
            value = match["value"].rstrip(".,:)`")
            is_typed_password = literal in _FORM_FILLING and looks_chosen(value)
            if is_typed_password or literal in _CERTAIN_IDIOMS or _is_secret(value):
                kind = "named-secret" if literal in _NAMED_IDIOMS else "password"
                yield Span(match.start("value"), match.start("value") + len(value), kind)


def _find_matches(text: str, literal: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """Yields the matches of an idiom around the places of its literal."""
    pattern = _compile_idiom(literal)
    if literal in _LITERAL_FIRST:
        yield from filter(None, (pattern.match(text, at) for at in places))
        return
    for start, end in _list_windows(places):
        yield from pattern.finditer(text, start, end)


def _list_windows(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yields the parts of a text around the places of a literal. Overlapping parts are joined, so that none of them
    cuts off a value."""
    start, end = 0, -1
    for at in places:
        if at - _CHARACTERS_BEFORE > end:
            if end >= 0:
                yield start, end
            start = max(0, at - _CHARACTERS_BEFORE)
        end = at + _CHARACTERS_AFTER
    if end >= 0:
        yield start, end


def _find_wallet_keys(text: str, lowered: str) -> Iterator[Span]:
    """Yields private keys of wallets. A hash has the same form, so a keyword on the same line is required."""
    for match in _WALLET_KEY.finditer(text):
        before = lowered[max(0, match.start() - 90) : match.start()]
        if _WALLET_WORDS.search(before[before.rfind("\n") + 1 :]):
            yield Span(match.start("value"), match.end("value"), "named-secret")


def _is_secret(value: str) -> bool:
    if is_placeholder(value) or is_sample(value):
        return False
    parts = value.split("-")
    is_mixed = all(any(map(kind, value)) for kind in (str.isdigit, str.islower, str.isupper)) and "/" not in value
    return (
        is_mixed
        or looks_like_password(value)
        or is_uuid(value)
        or any(is_scrambled(part) for part in parts if len(part) >= 8)
    )
