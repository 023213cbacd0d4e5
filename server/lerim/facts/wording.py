"""Turning what was said in a chat into what a colleague would write: clean clauses, asserting titles, full "
"sentences."""

from __future__ import annotations

import re
from functools import lru_cache

TITLE = 100  # characters of the longest title

_END = r"\s{0,2}(?:[,.!:;]|-{1,2}|—|–|…)\s{0,3}"
_LOUD = (  # fillers only where punctuation ends them: "no, use x", but not "no network calls"
    r"(?:no+[ ,]{1,2}){0,3}no+|nope|nah|wait|stop|great|good|nice|cool|perfect|right|sure|alright|fine|important|"
    r"reminder|first|second|"
    r"third|"
    r"finally|instead|yes|yep|yup|yeah|one (?:more )?thing|hello|again|actually no|(?:oh|ah|ok|hmm) no|"
    r"(?:that|this)(?:'s| is) (?:wrong|not right|incorrect|not correct|not what i (?:want|asked for|meant))"
)
_SOFT = (
    r"ok(?:ay)?|so|well|h+m+|a+h+|oh(?: man)?|uh+|um+|and|but|also|pl(?:ease|z|s)|pelase|hey|hi|sorry|thanks|thank "
    r"you|"
    r"actually|basically|honestly|btw|by the way|fyi|just|note(?: that)?|remember(?: that| to)?|then|now|imo|"
    r"i (?:think|guess|believe|mean|feel(?: like)?)|in my opinion|as (?:i )?(?:said|mentioned)(?: before| earlier)?|"
    r"like i said|almost forgot(?: this)?|i (?:already )?(?:said|told you|asked you|mentioned)(?: (?:to|that))?|"
    r"from now on|going forward|in (?:the )?future|(?:for|in) this (?:repo(?:sitory)?|project|codebase)|"
    r"no+(?= (?:use|don'?t|do not|always|never)\b)"
)
_FILLER = re.compile(rf"^(?:(?:{_LOUD}){_END}|(?:{_SOFT})(?:{_END}|\s{{1,3}}))", re.IGNORECASE)
_TRAILER = re.compile(
    r"(?:[\s,]{1,3}(?:please|pls|plz|thanks|thank you|thx|ok|okay|lol|haha|though|tho|btw|right|instead|again|too|"
    r"and that'?s (?:it|all)|as "
    r"well|"
    r"from now on|going forward|in (?:the )?future|here|in (?:this|the|our) (?:repo(?:sitory)?|project|codebase)|:\)|"
    r";\)))$",
    re.IGNORECASE,
)
_CONTRACTIONS = (
    (re.compile(r"\bdon['’]?t\b", re.IGNORECASE), "do not"),
    (re.compile(r"\bdoesn['’]?t\b", re.IGNORECASE), "does not"),
    (re.compile(r"\bisn['’]?t\b", re.IGNORECASE), "is not"),
    (re.compile(r"\baren['’]?t\b", re.IGNORECASE), "are not"),
    (re.compile(r"\bshouldn['’]?t\b", re.IGNORECASE), "should not"),
    (re.compile(r"\bmustn['’]?t\b", re.IGNORECASE), "must not"),
    (re.compile(r"\bcan(?:['’]t|not)\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"\b(have|has|had|did)n['’]t\b", re.IGNORECASE), r"\1 not"),
)
_PERSON = re.compile(
    r"\b(?:i|me|my|mine|you|your|yours|us|we|our|ours|i'[a-z]{1,2}|we'[a-z]{1,2}|you'[a-z]{1,2}|let'?s)\b"
)  # this and the next ones are for text in lower case: several times faster than re.IGNORECASE
_LOOSE = re.compile(
    r"\b(?:it|its|this|that|these|those|them|they|their|he|she|him|her|above|below|following|former|latter|thing|"
    r"things|stuff|"
    r"same|another one|the other|(?<=\s)one|ones|here|there|whatever|something|anything|everything|somehow|somewhere|"
    r"someone)\b"
)
_FIRM = re.compile(
    r"\b(?:in|of|for|across|within) this (?:repo(?:sitory)?|project|codebase|package|module)\b|\bso that\b|"
    r"\bensures? that\b|\b(?:any|every)thing (?=(?:in|on|under|from|like|that) \w)|"
    r"\b(?!(?:use|do|fix|keep|add|remove|like|of|to|for|in|on|with|all|and|but|know|say|says|"
    r"think|not|"
    r"is|if|as|from|by|than|at)\b)[a-z]{3,20} that (?=(?:is|are|has|have|can|must|should|does|do|"
    r"[a-z]{3,14}[^s\W]s)\b)"
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|might|could|would|probably|possibly|kind of|kinda|sort of|not sure|unsure|i don['’]?t know|"
    r"wonder|"
    r"if (?:i|we|you|it|that|there|possible|needed)|what if|suppose|hypothetical\w*|for example|e\.g|imagine|"
    r"let['’]?s say|"
    r"for instance|seems?|looks? like|feels?|hopefully|guess|try|trying|tentative\w*|assum\w+|someday|eventually|"
    r"later)\b"
)
_WISH = re.compile(r"\b(?:i|we) would (?:much |strongly )?(?:rather|prefer)\b")
_SARCASM = re.compile(
    r"\byeah,? right\b|^\W{0,2}oh,? (?:sure|great|brilliant|wonderful|fantastic|lovely|perfect|yeah)\b|\bwhy not "
    r"just\b|"
    r"\bwhat could (?:possibly )?go wrong\b|\bwhile we(?:'re| are) at it\b|\bworked so well\b|\s/s\s{0,3}$|🙄|"
    r"\bgenius\b|"
    r"\bjust kidding\b|\bjk\b"
)
_MOMENT = re.compile(
    r"\b(?:yet|for now|right now|now|this time|at the moment|currently|today|tonight|tomorrow|yesterday|this (?:pr|"
    r"commit|branch|"
    r"change|task|issue|session|one|part|bug|release|week|morning)|for the moment|first|next step|next one|"
    r"temporarily|already|until i|"
    r"before i|when i|after i|todo|wip|just merged|step \d|#\d{1,6}|these (?:\d|two|three|four|five|changes|files|"
    r"tests|errors|issues))\b"
)
_FINISHED = re.compile(
    r"\b(?:pass(?:es|ing)?|green|succeeds?|(?:be|is|are|been) (?:fixed|resolved|addressed|done|completed?|updated|"
    r"removed|implemented|merged))$"
)
_TASK = re.compile(
    r"^(?:do not |never mind|don't )?(?:commit|push|merge|rebase|revert|undo|redo|stash|deploy|release|ship|tag|open|"
    r"close|create|run|"
    r"rerun|re-run|continue|proceed|stop|wait|start|restart|go|come|look|see|check|show|tell|explain|read|give|send|"
    r"fix|debug|"
    r"investigate|find|search|grep|figure|summari[sz]e|describe|list|review|analy[sz]e|ask|answer|think|let|worry|"
    r"bother|delete|remove|"
    r"touch|change|update|edit|modify|write|add|implement|build|make|try|forget|finish|clean|install|pull|fetch|post|"
    r"reply|comment|"
    r"mark|rename|move|do|be|work|pick|take|have|get|need|know|care|mind|spawn|launch|apply|download|copy|paste|skip|"
    r"approve)\b",
    re.IGNORECASE,
)
_VERBS = {
    **dict.fromkeys(("used", "using", "uses"), "Use"),
    **dict.fromkeys(("chose", "chosen", "choosing"), "Choose"),
    **dict.fromkeys(("kept", "keeping", "keeps"), "Keep"),
    **dict.fromkeys(("moved", "moving"), "Move"),
    **dict.fromkeys(("switched", "switching"), "Switch"),
    **dict.fromkeys(("replaced", "replacing"), "Replace"),
    **dict.fromkeys(("went", "going"), "Go"),
    **dict.fromkeys(("picked", "picking"), "Pick"),
    **dict.fromkeys(("stored", "storing", "stores"), "Store"),
    **dict.fromkeys(("made", "making"), "Make"),
    **dict.fromkeys(("avoided", "avoiding"), "Avoid"),
    **dict.fromkeys(("preferred", "preferring"), "Prefer"),
    **dict.fromkeys(("returned", "returning"), "Return"),
    "selected": "Select",
    "adopted": "Adopt",
    "pinned": "Pin",
    "wrapped": "Wrap",
    "disabled": "Disable",
    "enabled": "Enable",
    "passed": "Pass",
    "placed": "Place",
    "left": "Leave",
    "reused": "Reuse",
    "putting": "Put",
}


def squeeze(text: str) -> str:
    """One line, single spaces."""
    return " ".join(text.split())


@lru_cache(maxsize=64)  # several signals look at the same sentences
def clean(text: str) -> str:
    """A clause without chat filler at either end, on one line, contractions written out, without a final stop."""
    out = squeeze(text).replace("’", "'")
    if out.startswith("(") and out.rstrip(". ").endswith(")"):
        out = out.strip("(). ")
    for _ in range(6):
        filler = _FILLER.match(out)
        if filler is None or filler.end() == len(out):
            break
        out = out[filler.end() :]
    for _ in range(4):
        shorter = _TRAILER.sub("", out.rstrip(" .!,;:…"))
        if shorter == out or not shorter:
            break
        out = shorter
    if "n't" in out or "nt " in out:
        for pattern, plain in _CONTRACTIONS:
            out = pattern.sub(plain, out)
    return out.strip(" .!,;:-—–…")


def capital(text: str) -> str:
    """The first letter upper case, unless the first word is a name as written (`npm`, snake_case, a path)."""
    word = text.split(" ", 1)[0]
    plain = word.rstrip(",:;").isalpha() and word.islower()
    return text[:1].upper() + text[1:] if plain else text


def sentence(text: str) -> str:
    """A full sentence: capital letter, final stop."""
    text = capital(squeeze(text)).rstrip(" ,;:")
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def imperative(clause: str) -> str:
    """`used X instead of Y` and `using X …` become `Use X …`; other clauses stay as they are."""
    head, _, rest = clause.partition(" ")
    verb = _VERBS.get(head.lower())
    return f"{verb} {rest}" if verb and rest else clause


@lru_cache(maxsize=64)
def hedged(text: str) -> bool:
    """Whether the sentence is a guess, a wish, a case thought through or meant the other way round, not a statement."""
    low = text.lower()
    return bool(_HEDGE.search(_WISH.sub(" ", low)) or _SARCASM.search(low))


@lru_cache(maxsize=64)
def momentary(text: str) -> bool:
    """Whether the sentence is about this moment's work only."""
    low = text.lower()
    return bool(_MOMENT.search(low) or _FINISHED.search(low.rstrip(" .!")))


def task(clause: str) -> bool:
    """Whether a cleaned clause opens like an instruction for the work at hand (fix, run, commit …)."""
    return bool(_TASK.match(clause))


@lru_cache(maxsize=16)
def title_fault(title: str) -> str:
    """Why this cannot be a title, or "" if it can."""
    words = title.split()
    faults = (
        (len(title) > TITLE, "too long for a title"),
        (len(words) < 2 or len(title) < 8, "too short to say anything"),
        (title.endswith("?"), "asks instead of asserting"),
        (personal(title), "speaks of I, you or we"),
        (loose(title), "refers to something not named"),
        (title.count("`") % 2 == 1 or title.count("(") != title.count(")"), "cut in the middle"),
        (not any(ch.isalpha() for ch in title), "has no words"),
    )
    return next((why for bad, why in faults if bad), "")


def personal(text: str) -> bool:
    """Whether the text speaks of I, you or we."""
    return bool(_PERSON.search(text.lower()))


def loose(text: str) -> bool:
    """Whether the text points at something it does not name."""
    low = text.lower()
    return bool(_LOOSE.search(low)) and bool(_LOOSE.search(_FIRM.sub(" ", low)))


def fit(claim: str) -> str:
    """The claim as a title: without asides and trailing clauses that only explain, where it would else be no "
    "title."""
    title = _INCLUDING.sub("", claim.rstrip(" .;,"))
    title = re.sub(r"\bneeds? to have (?=an? )", "needs ", title)
    if len(title) > TITLE and title.startswith("Prefer "):
        title = title.partition(" over ")[0]  # the body names the other side
    for _ in range(4):
        fault = title_fault(title)
        if not fault:
            return title
        cut = max((match.start() for match in _ASIDE.finditer(title)), default=-1)
        if cut < 12 and fault.startswith(("too long", "refers")):
            cut = max((match.start() for match in _FURTHER.finditer(title)), default=-1)
        if cut < 12 or len(title[:cut].split()) < 3:
            break
        title = title[:cut].rstrip(" ,;-—–")
    return title


_INCLUDING = re.compile(r",? including [^,]{3,40}?(?= (?:needs?|must|should|has|have) )", re.IGNORECASE)
_ASIDE = re.compile(
    r"(?:,\s(?:so|but|and|or|as|it|they|that|this|the|which|otherwise|because|since|for|not just|even|especially|never|"
    r"then|we|"
    r"you|i|unless)\b|\s[-—–]{1,2}\s|;\s|\s\(|:\s)",
    re.IGNORECASE,
)
_FURTHER = re.compile(
    r"(?<!check)(?<!sure)(?<!ensure)(?<!verify)(?<!means)(?<!mean)(?<!assume)(?<!confirm)(?<!use)\s(?:that(?= "
    r"(?:is|are|has|"
    r"have|can|must|should|[a-z]{3,14}[^s\W]s)\b)|which|prior to|at the root of|in order to|based on|such as|like|"
    r"to make "
    r"sure|by (?=\w+ing)|(?:instead of|rather than)(?= \w+ing\b))\s"
)
"""Where a title that is too long may end: what follows describes further and is told in the body."""


def shorten(text: str, most: int) -> str:
    """At most `most` characters, cut between words, with an ellipsis where it was cut."""
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:-—") + "…"


def listing(names: tuple[str, ...] | list[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def code(text: str) -> str:
    """A name in backticks."""
    return f"`{text.strip('`')}`"
