"""Detects statements that are always worth reviewing, and statements that no longer apply.

Always worth reviewing is what a person states outright (a rule, a preference, a decision, a choice between two
things), and the root cause of a failure that an agent states. A statement no longer applies if the person calls it
off or the agent finds that it was wrong. How the forms were chosen:
docs/decisions/0025-a-ranker-instead-of-rules.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from lerim.extraction.facts import find_sentences, is_hedged
from lerim.extraction.ranking.passages import TurnPassage
from lerim.extraction.ranking.ranker import PassageType
from lerim.patterns import compile_later

MAX_PROMPT_CHARS = 1_000
"""A message with more than this many characters is a document, in which "always" is mostly about the task at hand."""
MAX_PASSAGE_CHARS = 300
_ALWAYS = compile_later(
    r"(?<!\bcan )(?<!\bcould )\balways\b"
    r"(?! (?:fails|failed|crashes|crashed|breaks|broke)\b)|\b(?:from now on|going forward|in future)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bnever\b"
    r"(?! (?:mind|used|(?!(?:alias|bias|embed|focus|this)\b)\w+(?:[^es]ed|[^s]s))\b)",
    re.IGNORECASE,
)
"""Matches words that state a rule. What happened or happens (“it was never called”, “the test always fails”), or may
happen (“it can always be changed”), is not a rule."""
_CHOICE = compile_later(
    r"\binstead of\b|\brather than\b|\b(?:use|run|prefer|put|keep|call|write|name)\b.{1,80}\bover\b"
    r"|\b(?:use|run|prefer|put|keep|call|write|name)\b.{1,80}, not\b"
    r"|\bprefer\b.{1,80}\bto\b|\b(?:always|never|from now on|going forward)\b,? (?:we )?use\b",
    re.IGNORECASE,
)
_ALSO = compile_later(
    r"\bby default\b|\bremember\b|\bkeep in mind\b|\bconvention\b|(?<!\bprivacy )\bpolicy\b"
    r"|\bi (?:don'?t|do not) (?:want|like)\b",
    re.IGNORECASE,
)
_DECIDED = compile_later(
    r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|chosen|settled on|switched)\b|(?<!\bi want to )(?<!\bi wanna )"
    r"\buse\b.{2,60}\bfor\b"
    r"|\b(?:let'?s|we(?:'ll| will|'re| are)?) (?:(?:go|going|stick|sticking|stay|staying) with|switch(?:ing)? to)\b",
    re.IGNORECASE,
)
"""Matches words that state a decision. A guess (“maybe”) is not a decision; the same applies to `_WANTED`."""
_WANTED = compile_later(
    r"\A\W{0,4}(?:(?:please|also|and|but|so|no|ok(?:ay)?),? )*(?:don'?t|do not|stop(?= \w+ing\b)|avoid|use)"
    r"(?=(?: \S+){3})(?! (?:worry|mind)\b)|\bwe (?:don'?t|do not|never|can'?t|cannot)\b"
    r"(?! (?:know|see|have|reproduce|find)\b)|\bi(?:'d)? prefer\b"
    r"|, not\b(?! (?:sure|yet|now|really|only|just|that)\b)|\blessons? learn(?:ed|t)\b",
    re.IGNORECASE,
)
_FOR_NOW = compile_later(
    r"\A\W{0,4}(?:(?:please|also|and|but|so|no|ok(?:ay)?),? )*"
    r"(?:use (?:(?:the|your) )?(?:/[a-z][\w:-]{0,60}(?![\w:/-]|\.\w)"
    r"|(?:\S{1,40} ){0,2}(?:mcp|tools?|skills?|subagents?)\b(?= (?:to|and|or|now|again|here)\b|[^\w -]|\Z))"
    r"|[^\n]{0,200}\b(?:for now|yet)\W{0,3}\Z"
    r"|(?:don'?t|do not|stop) (?:chang|touch|modify|edit|revert|delet|do|fix)\w{0,3} any(?:thing| other)\b"
    r"(?! (?:in|under|inside|below) [^ ]{0,80}[`/]))",
    re.IGNORECASE,
)
"""Matches instructions for the task at hand, which are not rules: what an agent should work with or leave alone
(“use the browser tool to …”, “keep it for now”, “don't change any other files”)."""
_IN_OTHER_LANGUAGES = compile_later(
    r"\b(?:immer(?! noch\b| wieder\b)|niemals|ab (?:jetzt|sofort)|künftig|anstatt|anstelle|standardmäßig"
    r"|siempre|jamás|nunca|a partir de ahora|por defecto|en (?:vez|lugar) de"
    r"|sempre|a partir de agora|por padrão|em vez de|ao invés de"
    r"|désormais|dorénavant|par défaut|au lieu de|plutôt que"
    r"|всегда|никогда|впредь|отныне|вместо|по умолчанию|(?:мы |я )?решил[аи]?|давай(?:те)? использовать)\b"
    r"|\A\W{0,4}(?:(?:n'|ne )(?:\w+ )?jamais|toujours)\b"
    r"|\A\W{0,4}(?:не (?:используй|трогай|надо|нужно|делай|меняй)|请?(?:不要|别|避免|禁止))"
    r"|总是|始终|永远|一律|今后|以后(?:都|要|请)|而不是|改用|默认|记住|我们(?:决定|就用|统一)|我不(?:想|希望|喜欢)"
    r"|必ず|常に|今後は|代わりに|ではなく|デフォルトで|항상|절대|앞으로는|대신",
    re.IGNORECASE,
)
"""Matches the same as `_ALWAYS`, `_CHOICE`, `_ALSO` and `_WANTED` in German, Spanish, Portuguese, French, Russian,
Chinese, Japanese and Korean. The ranker did not learn from sessions in these languages."""
_ASKS_WITHOUT_MARK = compile_later(r"[吗嗎呢か][\s。.]*\Z")
_CAUSE = compile_later(
    r"\broot cause\W{0,4}(?:is\b|was\b|:)(?!\W{0,4}(?:clear|obvious|now|likely|probably|un\w+|still|not)\b)",
    re.IGNORECASE,
)
"""Matches phrases with which an agent says what was wrong."""
MIN_SHARED_WORDS = 0.5
"""Share of a statement's longer words that its correction must also contain."""
FOLLOWING_CHARS = 200
"""Number of characters after a correction that are taken to belong to it, because often only they say what it is
about."""
_CALLED_OFF = compile_later(
    r"\W{0,4}(?:no,? |ok,? |sorry,? |well,? |hmm,? |but |and )*(?:(?:scratch|forget|ignore|skip|drop|undo|revert"
    r"|cancel) (?:that|this|it|the above|those)\b|never ?mind|on second thoughts?\b|i changed my mind"
    r"|actually,? (?:no\b|let'?s not|don'?t)|(?:that|this|it|these|those)(?: is| was|'s| are)? (?:wrong|not (?:right"
    r"|true|needed|what)|a bad idea)|(?:that|this|it|these|those) (?:should|must|shall|need|needs|do|does|will)(?:n'?t"
    r"| not)(?: to)? (?:be (?:changed|done|removed|touched|there|the case)|happen|apply|change))",
    re.IGNORECASE,
)
_TOOK_BACK = compile_later(
    r"\W{0,4}(?:hmm,? |ah,? |oh,? |ok(?:ay)?,? |wait,? |so )*(?:"
    r"i was (?:wrong|mistaken)|i misread|i misunderstood|my (?:mistake|earlier|previous|assumption)|correction\b"
    r"|that(?:'s| is| was) (?:not (?:right|true|correct|the (?:cause|problem|issue))|wrong|incorrect)"
    r"|(?:actually|in fact|on closer (?:look|inspection)|it turns out|turns out|contrary to)\b.{0,160}"
    r"\b(?:not|n'?t|no|never|wrong|instead|isn|wasn)\b|scratch that|wait,? (?:no|that))",
    re.IGNORECASE,
)
_WORD = compile_later(r"[\w./-]{4,60}")


def is_explicit_statement(passage: TurnPassage, prompt: str) -> bool:
    """Returns whether a passage is an explicit statement. A passage of a person's message `prompt`, or of their
    feedback on a tool call, is one if it states a rule or a decision; a passage of an agent's reply is one if it
    states the cause of a failure."""
    if len(passage.text) > MAX_PASSAGE_CHARS:
        return False
    text = passage.text.rstrip(' *"`)').replace("’", "'")
    if passage.source == "reply":
        return _CAUSE.search(text) is not None
    if passage.source not in ("prompt", "feedback") or len(prompt) > MAX_PROMPT_CHARS or text.endswith(("?", "？")):
        return False
    if any(form.search(text) for form in (_ALWAYS, _CHOICE, _ALSO)):
        return True
    if _IN_OTHER_LANGUAGES.search(text) and not _ASKS_WITHOUT_MARK.search(text):
        return True
    return not is_hedged(text) and not _FOR_NOW.match(text) and any(form.search(text) for form in (_DECIDED, _WANTED))


def explicit_type(passage: TurnPassage) -> PassageType | None:
    """Returns the type that the words themselves indicate; None if they do not indicate one. It is a pitfall if an
    agent states the cause of a failure, a decision if a person says that they decided something, use something or
    prefer it to something else, and a rule if a person says that it always applies."""
    text = passage.text.replace("’", "'")
    if not passage.is_persons:
        return "pitfall" if _CAUSE.search(text) else None
    if _CHOICE.search(text) or _DECIDED.search(text):
        return "decision"
    return "rule" if _ALWAYS.search(text) else None


def is_called_off(passage: TurnPassage, following: Sequence[TurnPassage]) -> bool:
    """Returns whether the person takes back a passage of their own message right after it; if they do so after a
    list, this applies to all of its points. `following` are the passages after it in the same text."""
    rest = iter(following)
    after = next(rest, None)
    if passage.kind in ("bullet", "number", "quote"):
        while after is not None and after.kind == passage.kind:
            after = next(rest, None)
    return after is not None and _CALLED_OFF.match(after.text.replace("’", "'")) is not None


@lru_cache(maxsize=512)  # the sentences of an exchange are searched before and after ranking
def find_retractions(text: str) -> tuple[str, ...]:
    """Returns the sentences in which the agent says that it was wrong, each with the text after it."""
    sentences = [(text[one.start : one.end].replace("’", "'"), one.end) for one in find_sentences(text)]
    return tuple(f"{one} {text[end : end + FOLLOWING_CHARS]}" for one, end in sentences if _TOOK_BACK.match(one))


def is_retracted(statement: str, retractions: Iterable[str]) -> bool:
    """Returns whether one of these texts from `find_retractions` is about the statement."""
    words = _content_words(statement)
    return bool(words) and any(
        len(words & _content_words(text)) >= MIN_SHARED_WORDS * len(words) for text in retractions
    )


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word[:7] for word in _WORD.findall(text.lower()))
