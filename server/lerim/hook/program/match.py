"""Decides whether a text matches a memory so strongly that an agent is shown the memory without asking.

A memory matches by its words or by its places:

- By its words: the text contains at least the share STRONG_SHARE of the title's rare words, weighted by how rare
  they are, and at least MIN_FOUND of them. The quote is compared in the same way, and the better of the two counts.
  A word is rare if few memories have it (`weigh_term`); words that every developer uses all day do not count at all.
- By its places: the text names the path of a file or a symbol that the memory is about, literally.

The functions are pure. The replay of real sessions (`evals/README.md`) uses them too: its tuning projects were used
to choose STRONG_SHARE and MAX_TEXT_CHARS, and showed that addresses of web pages match by accident.
"""

import re

STRONG_SHARE = 0.45
MIN_FOUND = 2
PLACE_SCORE = 1.0
"""The score of a memory whose place is named, which is at least as high as any score by words."""
MAX_TEXT_CHARS = 1_000
"""Maximum number of characters that are compared. Of a longer text, only the beginning and the end count, because
what is pasted between them matches everything."""
MAX_TERMS = 300
RARE_SHARE, RARE_COUNT = 0.02, 5
"""A word is rare if at most this share of the memories, or at most this number of them, contain it."""
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"\bhttps?://\S+", re.IGNORECASE)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PATH = re.compile(r"[/\\]?[\w.@+~-]+(?:[/\\][\w.@+~-]+)*")
_CALL_OR_CODE = re.compile(r"`([^`\n]{1,200})`|\b([A-Za-z_][\w.]{2,100})\(")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_COMMON_LIST = """
    a about above after again all also always am an and any are as at be because been before being below between both
    but by can cannot could did do does doing don done down during each ever every few first for from further get gets
    had has have having he her here him his how i if in into is it its itself just keep last let like ll made make makes
    many may me might more most much must my need needs never new next no nor not now of off ok old on once one only or
    other our out over own please put re really right same see set shall she should so some still such sure take than
    that the their them then there these they thing things think this those three through to too two under until up us
    use used uses using ve very via want was way we well were what when where whether which while who whole why will
    with without work works would yes yet you your
    add all app bug build call change check class code command commit config create data default delete edit error file
    fix folder function help implement issue item key line list look method move name number object open option output
    page part path point problem project question read remove rename repo result return run save script server show
    start state step stop string system table task test text time try type update user value variable version view
    write
"""
_COMMON = frozenset(_COMMON_LIST.split())
_ENDINGS = (
    ("ations", "at"),
    ("ation", "at"),
    ("ings", ""),
    ("ing", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("sses", "ss"),
    ("ers", ""),
    ("ed", ""),
    ("er", ""),
    ("ly", ""),
    ("es", ""),
    ("ss", "ss"),
    ("us", "us"),
    ("s", ""),
)


def clip_text(text: str) -> str:
    """Returns a text without web addresses, in at most MAX_TEXT_CHARS characters: of a longer one, the beginning and
    the end."""
    half = MAX_TEXT_CHARS // 2
    text = _ADDRESS.sub(" ", text)
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:half]}\n{text[-half:]}"


def list_terms(text: str) -> list[str]:
    """Returns the words of a text that can distinguish memories, each once: stems in lower case, including the parts
    of names such as `getUserName`, and pairs of letters in scripts without spaces."""
    terms: dict[str, None] = {}
    for word in _WORD.findall(_ADDRESS.sub(" ", text)):
        if len(terms) >= MAX_TERMS:
            break
        if not word.isascii() and any("\u3040" <= letter <= "\u9fff" for letter in word):
            for at in range(len(word) - 1):
                terms[word[at : at + 2]] = None
            continue
        parts = _PART.findall(word) if len(word) <= 80 and not word.islower() else word.split("_")
        for piece in (word, *parts) if len(parts) > 1 else (word,):
            lower = piece.lower()[:80]
            if len(lower) > 1 and lower not in _COMMON and not lower.isdigit():
                terms[stem(lower)] = None
    return list(terms)


def stem(word: str) -> str:
    """Returns a lower-case word without the most common English endings, so that `retries` and `retried` become the
    same."""
    if not (word.isascii() and word.isalpha()):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


def weigh_term(memories_with_it: int, memories: int) -> float:
    """Returns the weight of a word, which is higher the fewer memories have it; 0 if the word is not rare."""
    from math import log

    is_rare = memories_with_it <= max(RARE_COUNT, RARE_SHARE * memories)
    return log(1 + memories / max(1, memories_with_it)) if is_rare else 0.0


def share_found(found_weight: float, total_weight: float, found_count: int) -> float:
    """Returns the share of a title or quote that a text contains, from 0 to 1; 0 if that is not a strong match."""
    if found_count < MIN_FOUND or total_weight <= 0:
        return 0.0
    share = min(1.0, found_weight / total_weight)
    return share if share >= STRONG_SHARE else 0.0


def find_paths(text: str) -> list[str]:
    """Returns everything in a text that looks like the path or name of a file, each once, with forward slashes. A
    path that begins with `@`, as agents write the files of a prompt, or with `/`, is also returned without it."""
    paths: dict[str, None] = {}
    for found in _PATH.findall(text):
        path = found.replace("\\", "/").rstrip(".")
        while path.startswith("./"):
            path = path[2:]
        plain = path.lstrip("@/")
        name = plain.rpartition("/")[2]
        has_extension = "." in name[1:-1] and name.rpartition(".")[2].isalnum()
        if has_extension or ("/" in plain and len(plain) > 3):
            paths |= dict.fromkeys((path, plain))
        if len(paths) >= 100:
            break
    return list(paths)


def find_symbols(text: str) -> list[str]:
    """Returns the names in a text that look like code, each once: words such as `load_rates`, `loadRates` or
    `Rates.load`, and any name that is between backticks or called."""
    symbols: dict[str, None] = {}
    for code, called in _CALL_OR_CODE.findall(text):
        for name in _IDENTIFIER.findall(code or called):
            symbols[name] = None
    for name in _IDENTIFIER.findall(text):
        if "_" in name[1:-1] or "." in name or (name != name.lower() and name[1:] != name[1:].lower()):
            symbols[name] = None
        if len(symbols) >= 200:
            break
    return [name for name in symbols if len(name) > 3 and name.lower() not in _COMMON]
