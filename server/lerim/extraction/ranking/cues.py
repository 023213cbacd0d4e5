"""Words and forms that hint at what a sentence is. Each one alone is weak; the ranker weighs them together.

All are searched for in lower-case text, except those in `AS_IT_STANDS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lerim.patterns import compile_later


def _compile_words(pattern: str) -> re.Pattern[str]:
    return compile_later(rf"\b(?:{pattern})\b")


def _compile_start(pattern: str) -> re.Pattern[str]:
    return compile_later(rf"^\W*(?:{pattern})\b")


CUES: Mapping[str, re.Pattern[str]] = {
    "obliges": _compile_words(r"must|should|shouldn'?t|ha(?:s|ve) to|needs? to|ought|required?|shall|ensure|make sure"),
    "generalizes": _compile_words(
        r"always|never|every|each|all|any|whenever|everywhere|from now on|going forward|in general|generally"
        r"|by default|"
        r"immer|nie|siempre|nunca|toujours|jamais"
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
        r"remember\w*|keep in mind|note|for (?:the )?future|next time|from now|as a rule|rules?|conventions?"
        r"|policy|policies|"
        r"standards?|guidelines?|preferences?|lessons?|memory|agents\.md|claude\.md"
    ),
    "narrates": _compile_start(
        r"now|let me|i'?ll|i will|i'?m (?:going|now)|i (?:need|have|see|can see)|next|first|perfect|great|good"
        r"|done|excellent|"
        r"ok(?:ay)?|looking|let'?s (?:check|look|see|verify|run)|checking|all|here(?:'s| is| are)"
    ),
    "reports": _compile_words(
        r"added|updated|fixed|removed|created|implemented|changed|moved|renamed|pushed|committed|pass(?:es|ed)"
        r"|all tests|"
        r"verified|completed|cleaned|done|merged|refactored|replaced|ran"
    ),
    "defers": _compile_words(
        r"todo|later|follow[- ]?up|deferred?|for now|still (?:open|to do|needs?|missing)|not yet|remaining|next steps?|"
        r"open questions?|pending|out of scope|in (?:the )?future|eventually|backlog|parked?"
    ),
    "hedges": _compile_words(
        r"maybe|perhaps|probably|might|could|seems?|likely|i guess|not sure|possibly|appears?|assum\w+"
    ),
    "tells trouble": _compile_words(
        r"fail(?:s|ed|ing|ures?)?|errors?|broken|breaks?|bugs?|crash\w*|wrong|silently|stale|leaks?|races?"
        r"|missing|hangs?|"
        r"stuck|mismatch|conflicts?|flaky|regress\w*|refus\w+|reject\w*|unexpected\w*|corrupt\w*|timeouts?"
    ),
    "decides": _compile_words(
        r"decided|decision|chose|choose|chosen|we use|we'?ll use|go with|going with|keep|stay|stick"
        r"|the (?:contract|rule|policy|"
        r"convention|intent|goal|design)|by design|deliberate\w*|intentional\w*|trade-?offs?|source of truth"
        r"|single|agreed"
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
        r"can you|could you|please|can we|could we|would you|let'?s|add|fix|update|create|make|run|check|look|commit|"
        r"push|implement|write|remove|change|show|give|do|now|also|review|explain|tell|find|go|start|continue"
        r"|yes|ok|rename|"
        r"merge|open|close|investigate|test|verify|help|rebase|delete|move|use"
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
        r"prod(?:uction)?|staging|ci|deploy\w*|docker|server|database|db|env|config\w*|token|cache|windows"
        r"|mac(?:os)?|linux|"
        r"branch|main|release|version|api|tests?"
    ),
    "numbers": compile_later(r"\d"),
    "reports a fault": compile_later(
        r"\bi (?:still |also )?(?:don'?t|do not|can'?t|cannot|couldn'?t|am not|'m not) (?:see|find|get|hear|understand"
        r"|seeing|getting)\b|\b(?:does|did|is|are|do)(?:n'?t| not) (?:work|show|load|appear|start|change|help|happen"
        r"|visible|working|showing|there)|\bnothing (?:happens|happened|changed|works)|\bstill (?:not|no|the same|see"
        r"|getting|does|fail|broken)|\bi(?:'m| am)? (?:get|got|getting|see|seeing|tried|marked|clicked|ran)\b"
        r"|\bgone\b|\bno change\b|could not"
    ),
    "is of the moment": _compile_words(
        r"right now|just (?:now|reset|merged|pushed|did|saw|noticed)|i(?:'ve| have) just|yesterday|today|tomorrow|again"
        r"|this (?:pr|commit|branch|error|message|time|change|one|task|issue|session)"
        r"|the (?:last|latest|new|previous|next)"
        r"|at the moment|for now|so far|any ?more|what i asked|state of"
    ),
    "wants": _compile_words(
        r"(?:i|we) (?:also )?(?:want|need|would like|should|could)|i'd like|can we|could we|can you|could you|please"
        r"|let'?s|how about|what about|what if"
    ),
    "wonders": _compile_words(
        r"i (?:guess|figure|assume|think|wonder|suppose|believe)"
        r"|wondering|does (?:that|this) mean|makes me|so does|or is"
        r"|right\?|am i|is there|are there|would it|not sure|curious"
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
    "makes a rule": compile_later(
        r"\b(?:should|must|shall|need(?:s)? to|ha(?:s|ve) to|ought to) (?:not |never |always |only )?be\b"
        r"|\bwe (?:use|don'?t|do not|never|always|only|keep|prefer|already)\b|\bmust not\b|\bshould(?:n'?t| not)\b"
        r"|\bno need\b|\bmake sure\b|\bonly (?:when|if|for|on|in)\b|\beven if\b|\bat all times\b|\bby default\b"
    ),
    "code": compile_later(r"`[^`\n]{1,200}`"),
    "path": compile_later(r"[\w-]/[\w.-]{2,}|\b[\w-]{2,40}\.[a-z]{1,5}\b"),
    "identifier": compile_later(r"\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|\w+\(\)"),  # case-sensitive
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
"""What a heading says about the points under it."""

AGENT_CONCEDES = compile_later(
    r"^\W*(?:you'?re (?:absolutely |totally |completely )?right|good (?:point|catch|call|idea)|great (?:point"
    r"|catch)|got it|"
    r"understood|makes sense|agreed?|absolutely|ah\b|i see|fair|sorry|i apologi[sz]e|my mistake|right\b)"
)
"""How an agent's reply begins after it was corrected (in lower case)."""
PERSON_OBJECTS = compile_later(
    r"^\W*(?:no\b|nope|wait|hmm|but |why (?:did|do|are|is)|don'?t|stop|actually|that'?s (?:not|wrong)"
    r"|i (?:don'?t|didn'?t|"
    r"meant|said|asked|told)|this is (?:not|wrong)|not |revert|undo|instead|still )"
)
"""How a person's message begins when correcting an agent (in lower case)."""
