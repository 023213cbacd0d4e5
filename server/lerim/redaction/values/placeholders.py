"""Recognizes values that are not a secret in any place, because they are made up or stand for a secret: `xxxxx`,
`${TOKEN}`.

Nearly every value that a rule finds is checked here, often several times. So words are searched for as plain text: a
pattern with all of them, in either case, takes thirty times as long for a long value.
"""

from __future__ import annotations

from lerim.patterns import compile_later

_SAMPLE_WORDS = (
    *("xxxxx", "your", "example", "placeholder", "redacted", "replace", "changeme", "dummy", "sample", "***", "..."),
)
_REPEATED_CHARACTER = compile_later(r"(.)\1\1\1\1\1\1\1")
_START = compile_later(
    r"\$|<|\{|%(?:[a-z_]\w*%|[sdq(@{]|$)|\[|\.\.\.|\.\*|\*{2,}|x{3,}|your|my[-_]|example|dummy|placeholder"
    r"|change[-_]?(?:me|it)|redacted|none$|null$|undefined$|true$|false$|todo|test$|fake|secrets?\.|env\.|process\."
    r"|import\.meta|os\.|config\.|settings\.|self\.|this\.|req\.|request\.|ctx\.|vars?\.|\||&(?:[a-z_]+[,;)]?$|amp|&|$)"
    r"|!(?:[a-z]+(?:\s|$)|[=!\[(]|$)|=|id=[a-z][\w.-]*(?:,|$)"
)
_PARTS = ("redacted", "${", "{{", "****", "xxxxxxxx", "your-", "your_", "example.com")
_NAME = r"[a-z_]{1,30}(?:[A-Z][a-z_]{1,30}){0,8}"
_NO_VALUE = compile_later(
    r"[\w@./\\()\[\]-]{1,200}\.(?:py|[cm]?[jt]sx?|go|rs|java|kts?|c|cc|cpp|h|hpp|cs|rb|php|swift|scala|exs?|lua|sh|sql|vue"
    r"|svelte|md|json|ya?ml|toml|css|html):\d{1,6}(?:[-:]\d{1,6}){0,2}\Z"
    r"|\d{1,6}:\d{1,6}\Z|(?i:pbkdf2|argon2(?:id?|d)?|bcrypt|scrypt|hmac|md5|sha-?\d{1,3}|aes-?\d{3})\Z"
    r"|(?:[A-Z]{1,20}(?:\d{1,3}[A-Z]{0,20})?_){1,9}(?:TOKEN|KEY|SECRET|PASSWORD)\Z"
    rf"|{_NAME}(?:\?\.{_NAME}(?:\.{_NAME}){{0,4}}){{1,4}}[,;)]?\Z|\*[a-z]{{2,30}}\.[A-Za-z]{{2,60}}[,;)]?\Z"
)
"""A line of a file (`src/auth.py:36-40`), an algorithm, the name of a variable that holds a secret, a field
(`body?.password`) or a type (`*config.Options`)."""
_TAG = compile_later(r"<[a-z]")


def is_sample(value: str) -> bool:
    """Returns whether a value shows that it is made up, as in documentation."""
    lowered = value.lower()
    return any(map(lowered.__contains__, _SAMPLE_WORDS)) or bool(_REPEATED_CHARACTER.search(lowered))


def is_placeholder(value: str) -> bool:
    """Returns whether a value stands for a secret or refers to one: a variable, a template, a word such as `none`.
    Only its first 80 characters are checked; most forms must be at the beginning."""
    head = value[:80].lower()
    return (
        bool(_START.match(head))
        or any(map(head.__contains__, _PARTS))
        or head.endswith(("-here", "_here"))
        or ("<" in head and bool(_TAG.search(head)))
        or bool(_NO_VALUE.match(value))
    )
