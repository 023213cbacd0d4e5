"""Words and forms that suggest what kind of sentence contains them. Each cue alone is weak; the ranker weighs them
together.

All cues are searched for in lower-case text, except those in `AS_IT_STANDS`. Cues that consist of words are searched
for in a text in which the beginning of each word is marked. The search then tries only the beginnings of words,
which takes a third of the time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lerim.patterns import compile_later

MARK = "\0"
"""The character before each word of a marked text."""
_WORD_START = compile_later(r"\b(?=\w)")
_BETWEEN_WORDS = compile_later(r"(\\\.|\[- \]|['\- ])(\??)(?=[\w()])")
"""What stands between two words of a pattern; a question mark after it says that both may be one word."""


def mark_words(lowered: str) -> str:
    """Returns the text with a mark before each word."""
    return _WORD_START.sub(MARK, lowered)


def _compile_words(pattern: str) -> re.Pattern[str]:
    marked = _BETWEEN_WORDS.sub(lambda found: f"(?:{found[1]}{MARK})?" if found[2] else found[1] + MARK, pattern)
    return compile_later(rf"{MARK}(?:{marked})\b")


def _compile_start(pattern: str) -> re.Pattern[str]:
    return compile_later(rf"^\W*(?:{pattern})\b")


CUES: Mapping[str, re.Pattern[str]] = {
    "obliges": _compile_words(r"must|should|shouldn'?t|ha(?:s|ve) to|needs? to|ought|required?|shall|ensure|make sure"),
    "generalizes": _compile_words(
        r"always|never|every|each|all|any|whenever|everywhere|from now on|going forward|in general|generally"
        r"|by default|immer|nie|siempre|nunca|toujours|jamais"
    ),
    "forbids": _compile_words(
        r"don'?t|do not|never|avoid|no need|not needed|stop|without|must not|shouldn'?t|cannot|can'?t"
    ),
    "negates": compile_later(
        r"\b(?:no|not|none|nothing|neither|nor|without|nicht|kein\w*|nein|pas|sin)\b|n't\b|不|没|别|ない|않"
    ),
    "contrasts": _compile_words(
        r"but|instead|rather|however|actually|although|though|whereas|unlike|not just|only|except|unless|even though|"
        r"aber|sondern|pero|mais"
    ),
    "gives a reason": _compile_words(
        r"because|since|so that|root cause|caused? by|due to|turns out|the reason|that'?s why|therefore|which means|"
        r"this means|otherwise|the cause|the (?:problem|issue) (?:is|was)|weil|porque|parce que"
    ),
    "prefers": _compile_words(
        r"prefer\w*|i want|i'?d (?:like|rather|prefer)|we want|i think|in favou?r|i like|better to|makes sense|let'?s|"
        r"(?:we|i) don'?t (?:want|need|like|think)"
    ),
    "remembers": _compile_words(
        r"remember\w*|keep in mind|note|for (?:the )?future|next time|from now|as a rule|rules?|conventions?|policy"
        r"|policies|standards?|guidelines?|preferences?|lessons?|memory|agents\.md|claude\.md"
    ),
    "narrates": _compile_start(
        r"now|let me|i'?ll|i will|i'?m (?:going|now)|i (?:need|have|see|can see)|next|first|perfect|great|good|done"
        r"|excellent|ok(?:ay)?|looking|let'?s (?:check|look|see|verify|run)|checking|all|here(?:'s| is| are)"
    ),
    "reports": _compile_words(
        r"added|updated|fixed|removed|created|implemented|changed|moved|renamed|pushed|committed|pass(?:es|ed)"
        r"|all tests|verified|completed|cleaned|done|merged|refactored|replaced|ran"
    ),
    "defers": _compile_words(
        r"todo|later|follow[- ]?up|deferred?|for now|still (?:open|to do|needs?|missing)|not yet|remaining|next steps?|"
        r"open questions?|pending|out of scope|in (?:the )?future|eventually|backlog|parked?"
    ),
    "hedges": _compile_words(
        r"maybe|perhaps|probably|might|could|seems?|likely|i guess|not sure|possibly|appears?|assum\w+"
    ),
    "tells trouble": _compile_words(
        r"fail(?:s|ed|ing|ures?)?|errors?|broken|breaks?|bugs?|crash\w*|wrong|silently|stale|leaks?|races?|missing"
        r"|hangs?|stuck|mismatch|conflicts?|flaky|regress\w*|refus\w+|reject\w*|unexpected\w*|corrupt\w*|timeouts?"
    ),
    "decides": _compile_words(
        r"decided|decision|chose|choose|chosen|we use|we'?ll use|go with|going with|keep|stay|stick|the (?:contract"
        r"|rule|policy|convention|intent|goal|design)|by design|deliberate\w*|intentional\w*|trade-?offs?"
        r"|source of truth|single|agreed"
    ),
    "warns": _compile_words(
        r"gotchas?|caveats?|pitfalls?|careful|note that|important(?:ly)?|beware|watch out|limitations?|quirks?|"
        r"work-?arounds?|traps?|warning|be aware|known issues?|downsides?|key (?:insight|finding|point)"
        r"|worth noting|catch"
    ),
    "is polite": _compile_words(
        r"you'?re right|good (?:point|catch|question)|thanks|thank you|please|sorry|great|nice"
    ),
    "asks for work": _compile_start(
        r"can you|could you|please|can we|could we|would you|let'?s|add|fix|update|create|make|run|check|look|commit"
        r"|push|implement|write|remove|change|show|give|do|now|also|review|explain|tell|find|go|start|continue|yes|ok"
        r"|rename|merge|open|close|investigate|test|verify|help|rebase|delete|move|use"
    ),
    "commands": _compile_start(
        r"use|don'?t|do not|never|always|keep|avoid|prefer|ensure|make sure|put|store|run|call|treat|return|set|only"
    ),
    "tells time": _compile_words(
        r"already|still|currently|today|existing|before|after|until|once|when(?:ever)?|while|during|now"
    ),
    "says I": _compile_words(r"i|i'm|i'll|i've|i'd|me|my"),
    "says we": _compile_words(r"we|us|our|we're|we'll|we've"),
    "says you": _compile_words(r"you|your|you're"),
    "states": _compile_words(
        r"is|are|was|were|does|do|has|have|lives?|means?|requires?|returns?|uses?|contains?|expects?|works?|supports?|"
        r"runs?|stores?|needs?|depends?"
    ),
    "was": _compile_words(r"was|were|had|did|been"),
    "has a condition": _compile_words(r"if|when|unless|once|as long as|in case|wenn|si|cuando"),
    "asks": _compile_words(r"why|how|what|where|which|who|should we|do we|is it|are we|can we"),
    "refers back": _compile_start(
        r"this|that|it|its|these|those|they|he|she|so|and|but|also|both|the (?:same|latter|former)|such|which|"
        r"das|dies\w*|es|eso|esto|cela|ça"
    ),
    "names a place of work": _compile_words(
        r"prod(?:uction)?|staging|ci|deploy\w*|docker|server|database|db|env|config\w*|token|cache|windows|mac(?:os)?"
        r"|linux|branch|main|release|version|api|tests?"
    ),
    "numbers": compile_later(r"\d"),
    "reports a fault": compile_later(
        r"\b(?:i (?:still |also )?(?:don'?t|do not|can'?t|cannot|couldn'?t|am not|'m not) (?:see|find|get|hear"
        r"|understand|seeing|getting)\b|(?:does|did|is|are|do)(?:n'?t| not) (?:work|show|load|appear|start|change|help"
        r"|happen|visible|working|showing|there)|nothing (?:happens|happened|changed|works)|still (?:not|no|the same"
        r"|see|getting|does|fail|broken)|i(?:'m| am)? (?:get|got|getting|see|seeing|tried|marked|clicked|ran)\b"
        r"|gone\b|no change\b)|could not"
    ),
    "is of the moment": _compile_words(
        r"right now|just (?:now|reset|merged|pushed|did|saw|noticed)|i(?:'ve| have) just|yesterday|today|tomorrow"
        r"|again|this (?:pr|commit|branch|error|message|time|change|one|task|issue|session)|the (?:last|latest|new"
        r"|previous|next)|at the moment|for now|so far|any ?more|what i asked|state of"
    ),
    "wants": _compile_words(
        r"(?:i|we) (?:also )?(?:want|need|would like|should|could)|i'd like|can we|could we|can you|could you|please"
        r"|let'?s|how about|what about|what if"
    ),
    "wonders": _compile_words(
        r"i (?:guess|figure|assume|think|wonder|suppose|believe)|wondering|does (?:that|this) mean|makes me|so does"
        r"|or is|am i|is there|are there|would it|not sure|curious"
    ),
    "is at work": _compile_words(
        r"let me|let's|i'm|i'll|checking|check if|look(?:ing)? (?:at|into|for)|inspect\w*|to see|to ensure|whether"
        r"|final|also|diff|section|the (?:issue|plan|fix|change|test|code|file)s?"
    ),
    "names a system": _compile_words(
        r"(?:github )?actions|cach(?:e|es|ed|ing)|dependenc(?:y|ies)|shells?|users?|servers?|sessions?|defaults?|hooks?"
        r"|packages?|plugins?|services?|installed|automatically|compatib\w+|lock\w*|repo(?:sitory)?|project|workspace"
    ),
    "asks about": _compile_words(
        r"does|how|explain|see|working|where|could|some|request|review|fix|continue|look|check|help"
    ),
    "compares": _compile_words(r"as|than|like|vs|same|similar|unlike|both|either|between"),
    "makes a rule": _compile_words(
        r"(?:should|must|shall|needs? to|ha(?:s|ve) to|ought to) (?:not |never |always |only )?be"
        r"|we (?:use|don'?t|do not|never|always|only|keep|prefer|already)|must not|should(?:n'?t| not)"
        r"|no need|make sure|only (?:when|if|for|on|in)|even if|at all times|by default"
    ),
    "code": compile_later(r"`[^`\n]{1,200}`"),
    "path": compile_later(r"[\w-]/[\w.-]{2,}|\b[\w-]{2,40}\.[a-z]{1,5}\b"),
    "identifier": compile_later(r"\b(?:\w+_\w+\b|[a-z]+[A-Z]\w+|\w+\(\))"),  # case-sensitive
    "flag": compile_later(r"(?:^|\s)--?[a-z][\w-]+"),
    "address": compile_later(r"https?://"),
    "arrow": compile_later(r"→|->|=>"),
    "dash": compile_later(r"\s[—–-]\s"),
    "parenthesis": compile_later(r"\("),
    "quotes": compile_later(r"[\"“”«»]"),
    "bold": compile_later(r"\*\*|__"),
    "shouts": compile_later(r"\b[A-Z]{4,}\b"),  # case-sensitive
}
AS_IT_STANDS = frozenset(("identifier", "shouts"))

HEADINGS: Mapping[str, re.Pattern[str]] = {
    "explains": _compile_words(
        r"root cause|cause|why|reason\w*|problem|issue|insight|findings?|discover\w*|background|context"
    ),
    "settles": _compile_words(
        r"decisions?|rules?|conventions?|requirements?|constraints?|principles?|must|notes?|important|caveats?"
    ),
    "reports": _compile_words(
        r"summary|changes?|what (?:changed|i did|was done)|files?|results?|status|verification|tests?|done|fix(?:es)?"
    ),
    "defers": _compile_words(r"next|todo|remaining|open|questions?|follow|future|recommend\w*|options?"),
}
"""Patterns for what a heading says about the points under it."""

AGENT_CONCEDES = compile_later(
    r"^\W*(?:you'?re (?:absolutely |totally |completely )?right|good (?:point|catch|call|idea)|great (?:point|catch)"
    r"|got it|understood|makes sense|agreed?|absolutely|ah\b|i see|fair|sorry|i apologi[sz]e|my mistake|right\b)"
)
"""Matches the beginning of an agent's reply after it was corrected (in lower case)."""
PERSON_OBJECTS = compile_later(
    r"^\W*(?:no\b|nope|wait|hmm|but |why (?:did|do|are|is)|don'?t|stop|actually|that'?s (?:not|wrong)|i (?:don'?t"
    r"|didn'?t|meant|said|asked|told)|this is (?:not|wrong)|not |revert|undo|instead|still )"
)
"""Matches the beginning of a person's message that corrects an agent (in lower case)."""
