"""What remains of a fault that was mended: the rule it broke. And words that were shouted, in plain letters."""

from __future__ import annotations

import re

_DOUBLED = "drop format get log map omit pin plan put run set ship skip split stop strip submit swap wrap"
_SILENT = (
    "cache cause close compare compute continue create decode delete dispose duplicate encode escape exclude execute "
    "fire force generate handle hide ignore include initialize invoke leave make merge mutate move normalize overwrite "
    "parse pause raise reduce remove rename replace require reuse save serialize share store terminate truncate update "
    "use validate write"
)
_PLAIN = (
    "accept add append apply assign attach await block break build call cast catch check clear convert copy drain emit "
    "expect export fail fall fetch filter flush hash hit hold import inherit insert keep leak listen load lock look "
    "mask match mix mock mount open override pass patch point poll print process publish pull push query read receive "
    "register reject reload render report reset restart retry return rewrite scan search send shadow show "
    "sort spawn start swallow throw treat trigger wait watch"
)
_BASE = (
    {f"{verb}{verb[-1]}ing": verb for verb in _DOUBLED.split()}
    | {f"{verb[:-1]}ing": verb for verb in _SILENT.split()}
    | {f"{verb}ing": verb for verb in _PLAIN.split()}
)
_FAULT = re.compile(
    r"^(?P<who>[^,;:]{2,60}?) (?:was|were|is|are) (?P<no>not )?(?:silently |also |always |incorrectly |wrongly |"
    r"accidentally |still )?(?P<doing>[a-z]{2,14}ing) (?P<what>[^;]{3,80})$"
)
_RIGHT = re.compile(
    r"\b(?:correct\w*|right(?:ly)?|fine|properly|expected|intended|already|as designed)\b", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:was|were|had|did)\b|^`[^`]{2,60}` (?:\w{2,12}ly )?(?!need|must|exceed|embed|feed|speed)[a-z]{3,12}ed\b"
)
_STRESSED = (
    "ABOVE AFTER AGAIN ALL ALREADY ALSO ALWAYS ANY ANYTHING ARE BEFORE BOTH BROKEN CANNOT CAUSE CORRECT DIFFERENT "
    "DISABLED DOES DUPLICATE EACH EMPTY ENABLED ENTIRE EVEN EVERY EVERYTHING EXACT EXACTLY FIRST INSIDE INSTEAD LAST "
    "MISSING MUST NEVER NO NONE NOT NOTHING ONCE ONE ONLY OTHER OUTSIDE PARENT REAL SAME SHOULD SILENTLY STILL TWICE "
    "UNTIL VERY WHOLE WITHOUT WRONG"
)
_SHOUTED = frozenset(_STRESSED.split())
_LOUD = re.compile(r"`[^`\n]*`|“[^”\n]*”|\"[^\"\n]*\"|\b[A-Z]{2,12}(?: [A-Z]{2,12}\b){0,6}(?![\w-])")


def rule(title: str) -> str:
    """`X was skipping Y` → `X must not skip Y`, `X was not closing Y` → `X must close Y`; "" where it says no such."""
    match = _FAULT.match(title)
    base = _BASE.get(match["doing"]) if match else None
    if match is None or base is None or _RIGHT.search(match["what"]):
        return ""
    return f"{match['who']} must {'' if match['no'] else 'not '}{base} {match['what']}"


def past(title: str) -> bool:
    """Whether the title tells what was so once."""
    return bool(_PAST.search(title))


def calm(text: str) -> str:
    """The text without words in capitals that only stress: `ALL calls` becomes `all calls`, `UNION ALL` stays."""
    return _LOUD.sub(_lowered, text)


def _lowered(match: re.Match[str]) -> str:
    words, before = match.group(), match.string[: match.start()].rstrip()
    if not _SHOUTED.issuperset(words.split()):
        return words
    return words.capitalize() if not before or before.endswith((".", "!", "?")) else words.lower()
