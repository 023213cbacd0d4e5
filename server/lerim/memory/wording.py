"""Ways to say one thing: phrases put alike before two claims are compared, and words that carry nothing of a rule.

Only words that mean the same in any rule are put together. What it does to a text is for comparing alone: nothing
here is ever shown or stored.
"""

from __future__ import annotations

import re

_ALIKE = """
    at_once straightaway immediately
    begin begins start starts starting
    break breaks broke broken fail fails failing failed
    call calls called calling run runs running ran execute executes executed executing invoke invokes invoked
    cause causes caused causing
    check checks checked checking validate validates validated validating verify verifies verified verifying
    choose chooses chosen chose pick picks picked
    config configuration configurations configs setting settings
    contain contains contained containing hold holds held holding carry carries carried carrying
    correct corrects corrected fix fixes fixed fixing repair repairs repaired mend mends mended
    delete deletes deleted deleting remove removes removed removing drop drops dropped dropping
    directory directories folder folders
    forbid forbids forbidden reject rejects rejected rejecting refuse refuses refused refusing
    image images picture pictures
    find finds found finding
    forget forgets forgot forgotten
    leave leaves left leaving
    create creates created creating
    need needs needed require requires required
    person user users people
    print prints printed show shows shown showing display displays displayed
    pull_request pr prs
    see sees saw seen seeing
    say says said saying tell tells told telling
    send sends sent sending
    build builds built building
    rebuild rebuilds rebuilt rebuilding
    late later newer
    bring brings brought
    catch catches caught
    come comes came coming
    do does did done
    draw draws drew drawn
    fall falls fell fallen
    grow grows grew grown
    hide hides hid hidden
    mean means meant
    read reads reading
    sit sits sat
    throw throws threw thrown
    understand understands understood
    wake wakes woke woken
    lose loses lost losing
    know knows knew known
    think thinks thought
    speak speaks spoke spoken
    write writes wrote written writing
    repo repos repository repositories
"""
_FIRST = {word: group[0] for group in (line.split() for line in _ALIKE.splitlines()) for word in group}
_PHRASAL = "back|build|check|clean|fall|log|roll|set|shut|sign|start"
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\bpull requests?\b", "pull_request"),
        (r"\b(?:only once|once only|just once)(?=[,.;:]|$| and\b| per\b| an?\b| in\b)", "once"),
        (r"\b(?:straight away|right away|at once)\b", "at_once"),
        (r"\b(?:no|not|never|don['’]t)((?: [\w'’-]{1,20}){0,6}) more than\b", r"\1 at most"),
        (r"\b(?:no|not|never)((?: [\w'’-]{1,20}){1,4}) without\b", r"\1 need"),
        (r"\b(?:no|not) longer\b", "not"),
        (r"\b(?:is|are) an error\b", "fails"),
        (r"(?<=\w)['’]s\b", ""),
        (r"\b(?:as well|too|from now on|in (?:the )?future|going forward|at all times)\b", ""),
        (r"\bin (?:this|our) (?:repo|project)\b", ""),
        (r"\b(?:make sure|be sure|remember|ensure|needs?) (?:that|to)\b", ""),
        (r"\b(?:able|supposed|expected|meant|necessary|required) to\b", ""),
        (r"\b(?:in order to|due to|thanks to|owing to)\b", ""),
        (r"\b(?:switch|turn)(?:ed|ing|es|s)? (on|off)\b", r"\1"),
        (rf"\b({_PHRASAL})(?:[a-z]?ing|s|ed)? (back|down|in|off|out|up)\b", r"\1\2"),
        (r"\bprefer((?: [\w'’-]+){1,4}) to\b", r"prefer\1 over"),
        (r"\b(?:neither|none|nothing)\b", "not"),
        (r",? nor\b", ""),
        (r"\bgo(?:es)? (?=(?:in|into|on|to|under)\b)", ""),
        (r"\b(?:any ?more|any longer|after all)\b", ""),
    )
)
_ANY_PHRASE = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _PHRASES), re.IGNORECASE)
_UNITS = {
    **dict.fromkeys(("seconds", "second", "secs", "sec"), "s"),
    **dict.fromkeys(("minutes", "minute", "mins"), "min"),
    **dict.fromkeys(("hours", "hour"), "h"),
    **dict.fromkeys(("days", "day"), "d"),
    **dict.fromkeys(("weeks", "week"), "w"),
    **dict.fromkeys(("months", "month"), "mon"),
    **dict.fromkeys(("years", "year"), "y"),
    **dict.fromkeys(("percent", "per cent"), "pct"),
}
_MEASURE = re.compile(rf"(\d) ?({'|'.join(_UNITS)}|[kmgt]i?b|ms|s|min|h|%)(?!\w)", re.IGNORECASE)
_COUNT = """
    2 two 3 three 4 four 5 five 6 six 7 seven 8 eight 9 nine 10 ten 11 eleven 12 twelve 13 thirteen 14 fourteen
    15 fifteen 16 sixteen 20 twenty 30 thirty 40 forty 50 fifty 60 sixty 90 ninety 100 hundred 1000 thousand
"""
_NUMBERS = dict(zip(_COUNT.split()[1::2], _COUNT.split()[::2], strict=True)) | {"twice": "2 times"}
_NUMBER = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
_CARRY_NOTHING = """
    now keep keeps kept keeping put puts stay stays staying stayed remain remains live lives lie lies belong belongs get
    gets give gives given gave makes made making want wants wanted take takes took taken taking own owns one single
    way thing things value values besides already still really actually under below inside within
    behind beneath upon via across along among toward towards
"""
EMPTY = frozenset(_CARRY_NOTHING.split())
"""Words without which a rule says the same, besides those that are filler everywhere."""
TELLING = frozenset(
    [
        "after",
        "all",
        "always",
        "any",
        "ascending",
        "before",
        "both",
        "bottom",
        "daily",
        "descending",
        "each",
        "every",
        "fewest",
        "first",
        "highest",
        "hourly",
        "last",
        "largest",
        "latest",
        "least",
        "left",
        "longest",
        "lowest",
        "monthly",
        "most",
        "never",
        "newest",
        "next",
        "nightly",
        "none",
        "off",
        "oldest",
        "on",
        "only",
        "optional",
        "out",
        "private",
        "public",
        "remote",
        "required",
        "right",
        "shortest",
        "slowest",
        "smallest",
        "top",
        "until",
        "weekly",
        "yearly",
    ]
)
"""Words that tell one rule from another though they are no names: how often, how many, in which order, for whom."""
_CONTRARY = """
    accept/reject add/remove allow/forbid ascending/descending automatic/manual begin/stop biggest/smallest close/open
    connect/disconnect disable/enable exclude/include fail/pass fail/work fast/slow fewest/most first/last hide/show
    highest/lowest install/uninstall largest/smallest local/remote lock/unlock longest/shortest mandatory/optional
    mutable/immutable newest/oldest optional/required private/public asynchronous/synchronous tracked/untracked
    valid/invalid
"""
OPPOSITES = tuple(pair.split("/") for pair in _CONTRARY.split())
"""Words of which only one can hold of the same thing."""
_NAME = re.compile(r"(?<=[\w,;:)`] )[A-Z][\w.+#-]*")
_WORD = re.compile(r"(?<![\w./#@-])[^\W\d]+(?:'[a-z]+)?(?![\w/#@-]|\.\w)")


def plain(text: str) -> str:
    """A text with phrases and words that mean the same put alike; of what stands in backticks only words are."""
    parts = phrased(text).split("`")
    for at in range(0, len(parts), 2):
        parts[at] = _WORD.sub(_full, parts[at])
    for at in range(1, len(parts), 2):
        parts[at] = _WORD.sub(_alike, parts[at])
    return "`".join(parts)


def phrased(text: str) -> str:
    """A text with phrases, numbers and measures that mean the same put alike, but for what stands in backticks."""
    parts = text.split("`")
    for at in range(0, len(parts), 2):
        if _ANY_PHRASE.search(parts[at]):
            for pattern, put in _PHRASES:
                parts[at] = pattern.sub(put, parts[at])
        parts[at] = _NUMBER.sub(lambda found: _NUMBERS[found[0].lower()], parts[at])
        parts[at] = _MEASURE.sub(_measured, parts[at])
    return "`".join(parts)


def alike(word: str) -> str:
    """The word that stands for all that mean the same as this one in lower case."""
    return _FIRST.get(word, word)


def _measured(found: re.Match[str]) -> str:
    unit = found[2].lower()
    return found[1] + _UNITS.get(unit, "pct" if unit == "%" else unit)


def names(text: str) -> str:
    """The names in a text: words with a capital letter that begin no sentence."""
    return " ".join(_NAME.findall(text))


def _full(found: re.Match[str]) -> str:
    empty = found[0].lower() in EMPTY and not found[0].isupper()  # GET is a name
    return "" if empty else _alike(found)


def _alike(found: re.Match[str]) -> str:
    word = found[0]
    low = word.lower()
    return _FIRST.get(low, word) if low == word or word.istitle() else word
