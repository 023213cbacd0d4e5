"""The forms in which people state rules, as patterns over a cleaned clause; `directives` says what each one means."""

from __future__ import annotations

import re

LEAD = (
    r"(?:(?:let'?s|lets|let us|we'?ll|we will|i'?ll|you|we|i|one|it)?\s?(?:should|must|need to|have to|want(?: you)? "
    r"to|would like(?: you)? to|"
    r"prefer(?: you)? to|'d like(?: you)? to)\s|(?:let'?s|lets|let us|we'?ll|we will|please|you can|we can|"
    r"we)\s(?=\w))?"
)
DO = (
    r"(?P<verb>use|using|go with|prefer|stick (?:to|with)|switch to|pick|choose|call|name|return|store|log|write|"
    r"keep|put|import|raise|throw|"
    r"run|test with|build with|deploy (?:to|with)|target|format with|install with|pin|commit to|answer|respond|"
    r"document|base it on)"
)
NOT = r"(?:,? (?:and )?not(?: with| to| in| as)?|,? (?:instead of|rather than|over|and never|never|in place of))"
WORDS = r"(?:[^,;.]|\.(?=\w))"
"""A character of a name: a full stop only inside a word, as in `os.path` or `src/app.py`."""
CONTRAST = re.compile(
    rf"^{LEAD}(?:always |only )?{DO} (?P<a>[^,;]{{1,60}}?){NOT} (?P<b>{WORDS}{{1,60}})$", re.IGNORECASE
)
DEED = re.compile(r"^(?:do|make|call|add|write|read|let|put|run|touch|change|try|go|get|have)\b [a-z]", re.IGNORECASE)
"""What follows `never` in `keep it pure, never do io there` is another rule, not the other side of the first."""
INSTEAD = re.compile(rf"^instead of (?P<b>[^,;]{{1,50}}?),? {LEAD}{DO} (?P<a>[^,;]{{1,60}})$", re.IGNORECASE)
NOT_USE = re.compile(
    rf"^{LEAD}(?:do not|never|stop|avoid) (?:ever )?(?:use|using|run|running|call|calling|import|importing|install "
    rf"with) (?P<b>{WORDS}{{1,50}}?)"
    rf"(?:\s?[,;.:]\s?|\s-+\s|\s?[—–]\s?| and | but )(?:please |always |rather |just |we |only )?(?P<verb>use|run|"
    rf"call|go with|prefer|import) (?P<a>[^,;]{{1,60}})$",
    re.IGNORECASE,
)
USE_OURS = re.compile(
    rf"^{LEAD}(?P<verb>use|run|call|go with|import) (?P<a>[^,;]{{1,50}}?)\s?[,;.:—-]{{1,2}}\s(?:we|this "
    rf"(?:repo(?:sitory)?|"
    rf"project|codebase)) (?:do not|does not|never|no longer) (?:use|run|have|want|do|allow) (?P<b>{WORDS}{{1,50}}?)"
    r"(?: here| any ?more| at all)?$",
    re.IGNORECASE,
)
TWO_SIDED = re.compile(
    rf"^{LEAD}(?:do not|never|stop|avoid) (?P<b>[a-z]{{3,14}} {WORDS}{{3,60}}?)\s?[,;.]\s(?:please |rather |just )?"
    r"(?P<verb>use|run|call|prefer|import) (?P<a>[^,;]{2,60})$",
    re.IGNORECASE,
)
BEING = re.compile(
    r"^we(?:'re| are) (?:still )?on (?P<rest>[\w.+#-]{2,30} v?\d[\w.]{0,10}(?:, [^?]{4,60})?)$", re.IGNORECASE
)
STATEMENT = re.compile(
    r"^(?P<rest>(?:the |an? )?(?!(?:issue|problem|bug|error|question|point|reason|thing|it|this|that|there|"
    r"what)\b)[^,;?]{2,50}? "
    r"(?:is|are|returns?|uses?|takes?|expects?|means?|comes?|lives?|goes|go|needs?|requires?|runs?|reads?|writes?|"
    r"stores?|"
    r"sends?|belongs?|accepts?|points?) [^,;?]{2,60}, not [^,;?]{1,50})$",
    re.IGNORECASE,
)
COMPLAINT = re.compile(
    r"^(?:(?:and|but|hey|wait|no|ugh)[, ]{1,2}){0,2}(?:why are (?:you|we)|(?:i see |looks like |seems )?"
    r"you(?:['’]re| are| were|['’]ve)?)(?: still| again| just| now){0,2} (?P<verb>using|used|importing|imported|"
    r"calling|called|running|ran|installing|installed) (?P<b>[^,;?]{2,50}?),? (?:and not|not|instead of|rather than) "
    r"(?P<a>[^,;?]{2,50})[?!. ]{0,3}$",
    re.IGNORECASE,
)
"""What the agent did wrong, and what it was to do: `why are you using X instead of Y?`."""
DESCRIBES = re.compile(
    r"^we (?!should|must|need|have|want|will|can\b).{1,80}(?:instead of|rather than|in place of)", re.IGNORECASE
)
PAIR = re.compile(
    r"^(?P<a>[\w@./+`-]{2,40}),? (?:not|instead of|rather than) (?P<b>[\w@./+`-]{2,40}(?:,? (?:in|for) [^,;]{2,50})?)$",
    re.IGNORECASE,
)
RATHER_HAVE = re.compile(
    r"^(?:i|we)(?:'d| would) (?:much )?rather (?:have|see|let) (?P<a>[^,;]{3,60}? [^,;]{2,40}?) than (?P<b>(?:raise|"
    r"throw|"
    r"return|use|get|let|fail|crash|exit|log|write|print|call|store|keep|panic|ignore|guess|swallow|retry|block) "
    r"[^,;]{2,50})$",
    re.IGNORECASE,
)
RATHER = re.compile(
    r"^(?:i|we)(?:'d| would) (?:much )?rather (?P<verb>use|keep|store|return|raise|throw|pin|name|call|(?:implement|"
    r"do|build|"
    r"write|make|model|represent|express) (?:it|this|them|these) (?:as|with|in)) (?P<a>(?:[^,;]|,(?=\S)){2,60}?) "
    r"(?:than|"
    r"instead of)(?: with| in| as)? (?P<b>[^,;]{2,50})$",
    re.IGNORECASE,
)
PREFER = re.compile(
    r"^(?:i(?:'d| would)? (?:strongly |much )?(?:prefer|rather (?:use|have|see)?)|we prefer|prefer|my preference is) "
    r"(?P<a>(?:[^,;]|,(?=\S)){2,60}?) "
    r"(?:over|to|than|instead of|rather than) (?P<b>[^,;]{2,50})$",
    re.IGNORECASE,
)
ALWAYS = re.compile(
    r"^(?:you (?:should |must |need to |have to )?|we (?:should |must |need to )?|i (?:want|need|would like) you to |"
    r"make sure (?:to |you |that you )?)?"
    r"(?P<when>always|never(?! mind\b)|do not ever|(?:do|must|should) not ever) (?P<rest>[a-z`][^?]{4,200})$",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"^(?P<when>when(?:ever)? (?!(?:i|we|you|it|they)\b)[^,;?]{4,60}), (?:please |you (?:should|must) )?"
    r"(?P<rest>(?:always|never|do not|avoid|prefer|first) [a-z`][^?]{3,120})$",
    re.IGNORECASE,
)
"""When working with X, never do Y."""
RECORDED = re.compile(
    r"^(?:(?:ok|yes|and|also|now|then|go ahead and|let'?s|please|can you|could you|you should)[,\s]{1,2}){0,3}"
    r"(?:(?:add|create|make|write|record|update|extend|change|document|put|note|mention|save|remember)\b[^.:;?]{0,60}?"
    r"\b(?:rules?|CLAUDE\.md|AGENTS\.md|GEMINI\.md|cursorrules|conventions?|guidelines?|instructions|\S{1,40}\.mdc)\b"
    r"[^.:;?,]{0,30}?(?: that| which|:| to(?= (?:specif|say|stat|mention|requir|includ|make sure|ensure|always|never)))"
    r"(?: to)? ?|(?:mention|note|document|record|specify)(?: in [^,:]{3,40})? that (?=\S+ (?:\S+ )?(?:must|always|"
    r"never)\b))"
    r"(?:(?:specif(?:y|ies)|says?|states?|mentions?|requires?|includes?|makes sure|make sure|ensures?|ensure)"
    r"(?: that| to)? )?(?P<rest>[^?]{8,200})$",
    re.IGNORECASE,
)
"""The person has a rule written down: `add a rule that …`, `note in CLAUDE.md that …`."""
OTHER_RULES = re.compile(
    r"\b(?:(?:es|style)?lint\w*|css|ruff|biome|prettier|firewall|nginx|routing|redirect|rewrite|validation|business|"
    r"security|iptables|alert\w*|semgrep|make|build|cron|proxy|dns|sonar|mypy) rules?\b",
    re.IGNORECASE,
)
"""Rules that are code or settings, not words for people and agents."""
RECIPE = re.compile(
    r"^(?P<when>(?:when|before|after) [^,;]{4,60}?),? to (?P<do>(?:first |always |never )+[a-z][^?]{4,120})$"
)
REWRITTEN = re.compile(
    r"^(?:let'?s |please |can you |we should )?(?:update|change|rewrite|modify|switch|convert|migrate|refactor|redo) "
    r"[^,;?]{2,50}? to (?P<rest>use [^?]{2,120} (?:instead of|rather than|, not) [^?]{2,60})$",
    re.IGNORECASE,
)
"""A change that is ordered, and the choice in it: `change the plan to use X instead of Y`."""
NOTED = re.compile(
    r"^(?P<rest>[^?;]{8,160}?)[,.]? (?:maybe |please |and |also |so ){0,2}(?:document|record|note|write|save|add) "
    r"(?:this|that|it)(?: down)?(?: (?:as (?:an? )?(?:learning|lesson|rule|convention|decision|guideline)s?|"
    r"(?:in|to|into) (?:the |our )?(?:docs?|notes?|memory|rules|conventions|guidelines|\S{1,40}\.mdc?)))$",
    re.IGNORECASE,
)
"""What was just said is to be written down: `x can be removed, document this in the repo`."""
STATED = re.compile(
    r"\b(?:can|cannot|may|must|should|is|are|needs?|has to|have to) (?:not |only |never )?\w", re.IGNORECASE
)
INSTRUCTED = re.compile(
    r"^(?:please |can you |could you |let'?s )?(?:updat|chang|edit|adjust|modif|rewrit)\w{0,4} (?:\S{1,30} ){1,4}?"
    r"(?:commands?|skills?|prompts?|instructions?|(?:sub)?agents?) to (?P<how>not|never|always) "
    r"(?P<rest>[a-z][^?]{8,200})$",
    re.IGNORECASE,
)
"""How agents are to work, said of what instructs them: `update the commit command to not …`."""
CONTRACT = re.compile(
    r"^(?P<rest>(?:the |all )?(?!(?:this|that|it|they|these|those|there|we|you|i|he|she)\b)(?P<s>[^,;?]{3,60}?) "
    r"(?:(?:must|should|has to|have to|needs? to) (?:not )?be (?:(?:hard|soft|fully|always|strictly) )?(?:deprecated|"
    r"required|mandatory|optional|immutable|read-only|idempotent|opt-(?:in|out)|internal|backwards?[- ]compatible|"
    r"case[- ](?:in)?sensitive|unsupported|forbidden|disallowed|(?:on|off|enabled|disabled) by default)|"
    r"must (?:not )?be (?:all |in )?(?:pngs?|svgs?|webp|jpe?gs?|json|ya?ml|toml|csv|utc|utf-?8|iso[- ]?8601|"
    r"kebab[- ]case|snake[_ ]case|camel ?case|lower ?case|upper ?case)))$",
    re.IGNORECASE,
)
"""What something is to everybody who relies on it: deprecated, required, off by default, a format."""
ADOPTED = re.compile(
    r"^we(?:'re| are| have|'ve) (?:going to|decided to|agreed to) (?P<verb>adopt|standardi[sz]e on|switch(?: over)? to|"
    r"migrate (?:from|to)|drop support for|deprecate|stop (?:using|supporting)) "
    r"(?P<rest>(?!(?:it|this|that|these|those|them|the next)\b)[^,;?]{3,70})$",
    re.IGNORECASE,
)
"""What was settled for the project: `we are going to adopt x`."""
PROCESS = re.compile(
    r"^(?P<rest>(?:an?|any|every|each|all) (?:\S{2,20} ){0,2}?(?:changes?|features?|prs?|pull requests?|releases?|"
    r"commits?|migrations?|dependenc(?:y|ies)|api) (?:must|should|has to|have to|needs? to) be (?:first )?"
    r"(?:discussed|approved|reviewed|signed|tested|documented|agreed on|announced) "
    r"(?:first|before \w+ing (?:an? )?[^,;?]{2,40}))$",
    re.IGNORECASE,
)
NEEDLESS = re.compile(
    r"^(?:we (?:really )?do not (?:need|care about|want)|(?:there(?:'s| is) )?no need (?:for|to (?:maintain|keep|"
    r"preserve|support|have|provide))|(?:do not|stop) (?:worry(?:ing)? about|maintain(?:ing)?|keep(?:ing)?))"
    r" (?:any |a |to (?:maintain|keep|preserve|support|have|provide) )?"
    r"(?P<x>(?:backwards?|reverse)[- ]compat\w*(?:ibility)?|migrations?(?: scripts?)?|data migrations?|legacy [a-z]+|"
    r"fallbacks?|feature flags?|deprecat\w+)"
    r"(?P<y> (?:for|with|in|to|of) [^,;?]{2,60})?(?P<more>,? (?:and|but|just|so|only|here|now|yet)\b[^?]{0,120}|"
    r",[^?]{0,120})?$",
    re.IGNORECASE,
)
ONE_ONLY = re.compile(
    r"^(?:there (?:should|must|can) (?:only )?be|(?:we|i) (?:only )?want|we should (?:only )?have|have|keep) "
    r"(?P<only>(?:just |only |exactly )?(?:one|a single))(?P<x> [^,;?]{3,60}?)(?P<y> (?:in|for|per|at|across) "
    r"[^,;?]{2,50})$",
    re.IGNORECASE,
)
NAMED_TOOL = re.compile(
    r"^(?:use|using) (?P<a>[\w@./+`-]{2,40})(?P<place>,? (?:in|for|as) (?!(?:this|that|it|now|me|the "
    r"moment)\b)[^,;]{2,60})?$",
    re.IGNORECASE,
)
NO_SUCH = re.compile(
    r"^no (?P<x>(?!(?:such|more|other|need|changes?|errors?|logs?|output|data|results?|"
    r"differences?)\b)[a-z`][^,;?:]{2,40}? "
    r"(?:in|for|on|inside|from|without) (?:the |our |any )?(?:commit messages?|commits?|prs?|pull requests?|pr titles?|"
    r"code comments|comments|code|tests?|production|repo(?:sitory)?|codebase|docs|docstrings|public api|names|"
    r"file ?names|"
    r"migrations|changelog|readme|source|titles|log messages))$",
    re.IGNORECASE,
)
"""What is not to be in a place that has conventions; elsewhere `no buttons on the page` is what somebody sees."""
STANDARD = re.compile(
    r"^(?:(?:code|coding|project|team|our|the|naming|commit|style|a|general) ){0,2}(?:standard|convention|rule|"
    r"policy|guideline|requirement|style)s?"
    r"(?: (?:here|is|are))?(?: that)?\s?[:,-]?\s(?!(?:must|should|shall|can|may|will|need|have|has|apply|applies|"
    r"about)\b)"
    r"(?P<rest>[^?]{8,220})$",
    re.IGNORECASE,
)
EVERY = re.compile(
    r"^(?P<rest>(?:every|each|all|any|no) [^?]{3,100}? (?:must(?: not)?|should(?: not| always| never)?|needs? to|"
    r"needs?|has to|have to|may|cannot|"
    r"go(?:es)? (?:in|into|under|through)|live in|is allowed|are allowed) [^?]{3,120})$",
    re.IGNORECASE,
)
OURS = re.compile(
    r"^(?:we|this (?:repo(?:sitory)?|project|codebase|team|package)|the (?:repo(?:sitory)?|project|codebase|"
    r"team))(?: (?:all|always|only|explicitly|deliberately))? "
    r"(?P<neg>(?:do|does) not |never )?(?P<adv>explicitly |deliberately |only |always )?"
    r"(?P<verb>uses?|runs?|ships?|supports?|targets?|deploys?|stores?|writes?|keeps?|logs?|mocks?|pins?|formats?|"
    r"publishe?s?|follows?|commits?|imports?|"
    r"squash(?:es)?|rebases?|tags?|vendors?|generates?|allows?|wraps?|version|throws?|returns?|accepts?|hardcodes?) "
    r"(?P<rest>(?!(?:out|into|getting|it|this|that)\b)[^?]{2,120})$",
    re.IGNORECASE,
)
UNWANTED = re.compile(
    r"^we (?:explicitly |really |definitely )?do not want (?:to (?P<verb>[a-z]+) )?(?:any )?(?P<rest>[^?]{3,90})$",
    re.IGNORECASE,
)
TRUTH = re.compile(
    r"^(?P<a>[^,;?]{2,60}?) (?:is|are|should be|must be|stays?|remains?) (?:the |our )?(?:single )?source of "
    r"truth(?: (?P<b>(?:for|of|on) [^,;?]{2,40}))?$",
    re.IGNORECASE,
)
ENSURE = re.compile(
    r"^(?:ensure|make sure|be sure) (?:that )?(?P<a>[^?]{3,90}? (?:is|are|has|have|stays?|remains?|always|never|"
    r"fails?) "
    r"(?!(?:pass\w*|green|fine|ok|up to date|installed|running|correct|working|clean|done|there)$)[^?]{3,80})$",
    re.IGNORECASE,
)
DONT = re.compile(
    r"^(?:you (?:should|must|need to) not|you should not|do not|stop|avoid|please do not|we (?:should|must|will) not|"
    r"let'?s not|lets not|we(?:'re| are) not going to) "
    r"(?P<rest>[a-z][^?]{4,160})$",
    re.IGNORECASE,
)
MUST = re.compile(
    r"^(?P<rest>(?:the )?[^,;?]{3,60}? (?:must|should|has to|have to|needs? to|is supposed to|are supposed to)(?: "
    r"not| always| never| only)? (?:be |stay |go |live |come |use |return |fail )[^?]{3,100})$",
    re.IGNORECASE,
)
MUST_NOT = re.compile(
    r"^(?P<rest>(?!(?:i|we|you|it|they|he|she|this|that|there)\b)(?:the |our )?(?P<s>[^,;?]{3,50}?) (?:must|may|"
    r"should|can) (?:not|never|only)(?: ever)? "
    r"(?!(?:fail|break|crash|hang|be (?:broken|slow|red))\b)[a-z]{2,14}\b[^?]{3,100})$",
    re.IGNORECASE,
)
PLURAL = re.compile(
    r"^(?:(?:unit|integration|e2e|api|http|public|private|database|db|sql|error|log) )?(?:tests|migrations|handlers|"
    r"endpoints|"
    r"routes|components|modules|functions|commits|branches|scripts|queries|errors|logs|secrets|timestamps|ids|types|"
    r"models|"
    r"views|controllers|services|workers|commands|imports|dependencies|packages|exceptions|amounts|dates|fixtures|"
    r"hooks|commit messages|pull requests|"
    r"messages)$",
    re.IGNORECASE,
)
HABIT = re.compile(
    r"^(?P<rest>(?!(?:i|we|you|it|they|this|that|there|the|a|an)\b)[a-z][\w-]{1,14} [^,;?]{2,80}? (?:before|after|on|"
    r"with|for) "
    r"(?:every|each) (?:single )?(?:commit|push|merge|release|change|deploy(?:ment)?|pull request|pr|edit|migration|"
    r"build|"
    r"rebase|new \w{3,20})s?)$",
    re.IGNORECASE,
)
MUST_BE = re.compile(
    r"^(?P<s>[^,;?]{3,50}?) must be "
    r"(?!(?:added|updated|written|created|moved|removed|renamed|changed|there|present)\b)",
    re.IGNORECASE,
)
TOLD_AFTER = re.compile(
    r"^(?P<head>[^;?]{8,120}?), (?P<why>(?:the|our|we|most|all|both|some|their|its) [^,;?]{8,120})$", re.IGNORECASE
)
"""A rule and, after a comma, why: `use redis instead of sqlite, the workers share it`."""
PLACE = re.compile(
    r"^(?!(?:the|a|an|any|some|its|their) )(?P<head>\S{1,40}(?: \S{1,30}){0,2}?) (?P<place>(?:in|for|under|inside|"
    r"within|"
    r"throughout|across) [^,;]{2,50})$",
    re.IGNORECASE,
)
SUBCOMMAND = re.compile(r"^(?P<tool>[a-z][\w-]{1,14}) (?:add|install|run|sync|i|ci|test|dlx|exec)$", re.IGNORECASE)
INFERRED = re.compile(
    r"^(?:the |an? |this |that |some )?(?:[\w`./-]{1,30} )?(?:bug|problem|issue|error|cause|reason|culprit|fault|"
    r"leak|crash|failure|"
    r"mistake|there|it) (?:must|should|has to)\b|\b(?:must|should|has to) be (?:in|at|from|somewhere|wrong|missing|"
    r"broken|coming|"
    r"because|due|some|a (?:bug|typo|problem|mistake|race))\b",
    re.IGNORECASE,
)
"""Not a rule but a conclusion: `the bug must be in the parser`."""
STRICT = re.compile(r"\b(?:always|never|only|every|any|all|strict\w*|no|not|each)\b", re.IGNORECASE)
PARTS = re.compile(
    r"^(?:every|each|all|any|no) (?:new |public |exported |added )?(?:\S{1,20} )?(?:additions?|code|files?|"
    r"functions?|methods?|commits?|"
    r"endpoints?|routes?|tests?|modules?|packages?|pull requests?|prs?|class(?:es)?|migrations?|components?|"
    r"branch(?:es)?|"
    r"scripts?|handlers?|commands?|queries|tables?|schemas?|apis?|dependenc\w+|imports?|errors?|logs?|secrets?|"
    r"types?|rules?|docs?|pages?|events?|models?|fields?|columns?|plugins?|hooks?|apps?|services?|providers?|requests?|"
    r"responses?|settings?|flags?|fixtures?|prompts?|entries|records?|buttons?|dialogs?|forms?|jobs?|steps?)\b",
    re.IGNORECASE,
)
FROM_NOW = re.compile(r"\b(?:from now on|going forward|henceforth)\b", re.IGNORECASE)
LATER_ON = re.compile(
    r"(?:^|[,;] )(?:in (?:the )?future|by default)\b|\b(?:in (?:the )?future|by default)\W{0,3}$", re.IGNORECASE
)
NEVER_DONE = frozenset(("use", "ship", "commit", "allow", "mock", "hardcode", "vendor", "rebase", "squash", "publish"))
STANDING = re.compile(
    r"^(?:please |you (?:should|must) |i want you to |we (?:should|must|will) |let'?s )?(?P<rest>(?!(?:i|we|you|it|"
    r"the|this|that|there|if|when)\b)[a-z][\w-]{1,14} [^?]{4,200})$",
    re.IGNORECASE,
)
ASKED_NOT = re.compile(r"\bi (?:already |explicitly )?(?:told|asked) you (?:not to|to not) ", re.IGNORECASE)
PROJECT_USES = re.compile(
    r"^(?:this|the|our) (?:repo(?:sitory)?|project|codebase|app|package|team) uses ", re.IGNORECASE
)
