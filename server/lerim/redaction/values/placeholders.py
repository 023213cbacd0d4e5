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
    )
