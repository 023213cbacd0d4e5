"""Finds the definitions of a file that is not Python, or does not parse as such: by tokens, bounded by braces or
indentation. All languages share one list of keywords; only comments and strings are read by language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

KIND = "b"
OWN_NAME = "\1"
"""The placeholder for a definition's own name."""
TokenLister = Callable[[frozenset[str]], Iterator[str]]
"""Yields the tokens of a definition, with the names in a set replaced by `OWN_NAME`."""
MAX_TOKENS = 200_000
MAX_BLOCK = 20_000
"""Tokens of one definition; the rest is ignored."""
MAX_LINE = 60
"""Tokens on a line before a name; after more, the name is ignored: minified code defines nothing people refer to."""
MAX_STEPS = 1_000_000
"""Tokens scanned for the ends of all definitions in a file; definitions after that are not found."""


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


KEYWORDS = _word_set(
    "def class function func fn type struct enum interface trait impl module const let var val object record "
    "union namespace protocol extension macro sub procedure table view"
)
_CONTAINERS = _word_set("class struct interface trait impl module object namespace protocol extension enum")
_NOT_NAMES = _word_set(
    "if for while switch catch return new await throw else do try with elif unless until match when case in of "
    "and or not function super sizeof typeof delete print echo require import from"
)
_HASH_COMMENTS = _word_set(
    "py pyi rb sh bash zsh fish yaml yml toml mk r jl pl pm ex exs tf nim cmake dockerfile conf ini"
)
_DASH_COMMENTS = _word_set("sql lua hs elm ada vhd")
_SLASH_AND_HASH_COMMENTS = frozenset(("php",))
_CHARACTER_QUOTES = frozenset(("rs",))
"""Extensions in which `'` begins a single character, or a lifetime."""
_EQUAL_QUOTES = _word_set("js jsx ts tsx mjs cjs mts cts vue svelte css scss less")
"""Extensions in which both quotes mean the same, and formatters choose one."""
_INDENTED = _word_set("py pyi rb yaml yml toml ini conf ex exs lua jl nim mk sql hs elm")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_CONTINUATION_SIGNS = frozenset(".?:|&+-*/%=<>,({[")
_WORD = r"[^\W\d][\w$]*"
# an unclosed literal ends with the line or the text, so that nothing is scanned twice
_STRING = r'"""[\s\S]*?(?:"""|\Z)|"(?:[^"\\\n]|\\.)*"?|`(?:[^`\\]|\\[\s\S])*`?'
_SINGLE = r"|'''[\s\S]*?(?:'''|\Z)|'(?:[^'\\\n]|\\.)*'?"
_CHARACTER = r"|'(?:[^'\\\n]|\\[^'\n]{1,10})'"


class Token(NamedTuple):
    """A word, number, string or sign, and its line (from 0)."""

    text: str
    line: int


class DefinitionSpan(NamedTuple):
    """A definition's qualified name, and its first and last line (from 0)."""

    name: str
    first: int
    last: int


class _DefinitionScan:
    """Finds the definitions in a file; `indents` is the indentation of each line (-1 for an empty one)."""

    def __init__(self, tokens: Sequence[Token], indents: Sequence[int], extension: str) -> None:
        self._tokens = tokens
        self._indents = indents
        self._is_indented = extension in _INDENTED
        self._quotes_are_equal = extension in _EQUAL_QUOTES
        self._steps = 0
        self.definitions: dict[str, list[TokenLister]] = {}
        self.spans: list[DefinitionSpan] = []
        self._find_definitions()

    def _comparable_tokens(self, start: int, end: int, own: frozenset[str]) -> Iterator[str]:
        part = self._tokens[start : min(end, start + MAX_BLOCK)]
        for at, token in enumerate(part):
            text = token.text
            if text == "," and at + 1 < len(part) and part[at + 1].text in _CLOSE:
                continue  # a trailing comma that a formatter adds
            if text in own:
                yield OWN_NAME
            elif self._quotes_are_equal and text[0] in "'\"" and "\\" not in text and not set(text[1:-1]) & {"'", '"'}:
                yield f"'{text[1:-1]}'"
            else:
                yield text

    def _find_definitions(self) -> None:
        inside: list[tuple[str, int]] = []  # the enclosing definitions, and where each ends
        for at in range(len(self._tokens)):
            if self._steps > MAX_STEPS:
                return
            while inside and at >= inside[-1][1]:
                inside.pop()
            named = self._name_defined_at(at)
            if named is None:
                continue
            name, container = named
            start = self._statement_start(at)
            end = self._definition_end(at, start)
            prefix = "".join(f"{one}." for one, _ in inside)
            self.definitions.setdefault(prefix + name, []).append(partial(self._comparable_tokens, start, end))
            lines = self._tokens[start].line, self._tokens[max(start, end - 1)].line
            self.spans.append(DefinitionSpan(prefix + name, *lines))
            if container:
                inside.append((name, end))

    def _name_defined_at(self, at: int) -> tuple[str, bool] | None:
        """Returns the name that the token starts to define, and whether it can contain others; None if it starts
        none."""
        tokens = self._tokens
        text = tokens[at].text
        if text in KEYWORDS:
            return self._name_after_keyword(at)
        if not _is_name(text) or text in _NOT_NAMES or at + 1 >= len(tokens):
            return None
        before = [token.text for token in tokens[self._statement_start(at) : at]]
        if len(before) >= MAX_LINE:
            return None
        if any(word in KEYWORDS or not (_is_name(word) or word in "*&<>[],:@.?#~") for word in before):
            return None
        if before and before[-1] in (".", "new", "return", "await", "throw", "else", "case"):
            return None
        if tokens[at + 1].text == "(":
            return (text, False) if self._has_body(at + 1) else None
        if tokens[at + 1].text in ("=", ":") and self._is_function(at + 2):
            return (text, False)
        return None

    def _name_after_keyword(self, at: int) -> tuple[str, bool] | None:
        tokens = self._tokens
        keyword, here = tokens[at].text, at + 1
        before = tokens[at - 1] if at else None
        if before is not None and before.line == tokens[at].line and before.text in (".", "=", "(", ",", ":", "<"):
            return None
        receiver = ""
        if keyword == "func" and here < len(tokens) and tokens[here].text == "(":
            close = self._after_closing_bracket(here)
            receiver = next((t.text for t in reversed(tokens[here:close]) if _is_name(t.text)), "")
            here = close
        while here < len(tokens) and tokens[here].text == "*":
            here += 1
        if here >= len(tokens) or not _is_name(tokens[here].text) or tokens[here].text in KEYWORDS | {"of", "in"}:
            return None
        name = tokens[here].text
        if keyword == "impl":
            line = tokens[here : here + 30]
            to = next((one + 1 for one, token in enumerate(line) if token.text == "for"), 0)
            name = line[to].text if to < len(line) else name
        return (f"{receiver}.{name}" if receiver else name), keyword in _CONTAINERS

    def _has_body(self, at: int) -> bool:
        """Returns whether a body follows the parenthesis that opens at `at`, as after a method's parameters."""
        close = self._after_closing_bracket(at)
        for token in self._tokens[close : close + 16]:
            if token.text == "{":
                return True
            if token.text in (";", "=", ")", ",", "(", "."):
                return False
        return False

    def _is_function(self, at: int) -> bool:
        """Returns whether the value at `at` is a function: `function (`, `async (x) =>`, `x =>`."""
        tokens = self._tokens
        while at < len(tokens) and tokens[at].text == "async":
            at += 1
        if at + 1 >= len(tokens):
            return False
        if tokens[at].text == "function":
            return True
        after = (
            self._after_closing_bracket(at)
            if tokens[at].text == "("
            else at + 1
            if _is_name(tokens[at].text)
            else len(tokens)
        )
        return [token.text for token in tokens[after : after + 2]] == ["=", ">"]

    def _after_closing_bracket(self, at: int) -> int:
        depth = 0
        for here in range(at, min(len(self._tokens), at + MAX_BLOCK)):
            text = self._tokens[here].text
            depth += (text in _OPEN) - (text in _CLOSE)
            self._steps += 1
            if depth <= 0:
                return here + 1
        return len(self._tokens)

    def _statement_start(self, at: int) -> int:
        """Returns the index of the first token of the statement: the first on the line, or after a `;` or brace."""
        line, first = self._tokens[at].line, max(0, at - MAX_LINE)
        while at > first and self._tokens[at - 1].line == line and self._tokens[at - 1].text not in (";", "{", "}"):
            at -= 1
        return at

    def _definition_end(self, at: int, start: int) -> int:
        end = self._end_by_indent(start) if self._is_indented else self._end_by_brackets(at, start)
        self._steps += end - start
        return end

    def _end_by_brackets(self, at: int, start: int) -> int:
        tokens = self._tokens
        depth, here, last = 0, at, min(len(tokens), start + MAX_BLOCK)
        indent = self._indents[tokens[start].line]
        while here < last:
            text, line = tokens[here]
            after = tokens[here + 1] if here + 1 < len(tokens) else None
            if text in _CLOSE:
                depth -= 1
                if depth < 0:
                    return here
                if depth == 0 and text == "}" and (after is None or after.line > line or after.text in ";,)"):
                    return here + 1
            elif text in _OPEN:
                depth += 1
            elif text == ";" and depth == 0:
                return here + 1
            if depth == 0 and after is not None and after.line > line and not self._is_continued(text, after, indent):
                return here + 1
            here += 1
        return here

    def _is_continued(self, text: str, after: Token, indent: int) -> bool:
        return text in _CONTINUATION_SIGNS or after.text in _CONTINUATION_SIGNS or self._indents[after.line] > indent

    def _end_by_indent(self, start: int) -> int:
        tokens = self._tokens
        line = tokens[start].line
        indent = self._indents[line]
        here, depth = start, 0
        while here < min(len(tokens), start + MAX_BLOCK):
            token = tokens[here]
            if token.line > line and depth <= 0 and self._indents[token.line] <= indent:
                return here + (token.text in ("end", ")", "]", "}"))
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
            here += 1
        return here


def find_definitions(path: str, text: str) -> dict[str, list[TokenLister]]:
    """Returns the definitions of a text by qualified name, as far as they can be found."""
    return _scan(path, text).definitions


def find_spans(path: str, text: str) -> list[DefinitionSpan]:
    """Returns where the definitions of a text are."""
    return _scan(path, text).spans


def _scan(path: str, text: str) -> _DefinitionScan:
    name = path.rpartition("/")[2].lower()
    extension = name.rpartition(".")[2]
    extension = "mk" if name in ("makefile", "gnumakefile") else extension
    tokens = list(_tokens(text, extension))
    indents = [len(line) - len(line.lstrip()) if line.strip() else -1 for line in text.expandtabs(4).split("\n")]
    return _DefinitionScan(tokens, indents, extension)


def _tokens(text: str, ending: str) -> Iterator[Token]:
    pattern = _pattern(ending)
    line = position = 0
    for count, match in enumerate(pattern.finditer(text)):
        if count >= MAX_TOKENS:
            return
        line += text.count("\n", position, match.start())
        position = match.start()
        if match.lastgroup == "token":
            yield Token(match.group(), line)


def _pattern(ending: str) -> re.Pattern[str]:
    if ending in _HASH_COMMENTS:
        comments = r"\#[^\n]*"
    elif ending in _DASH_COMMENTS:
        comments = r"--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
    elif ending in _SLASH_AND_HASH_COMMENTS:
        comments = r"//[^\n]*|\#[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
    else:
        comments = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|<!--[\s\S]*?(?:-->|\Z)"
    strings = _STRING + (_CHARACTER if ending in _CHARACTER_QUOTES else _SINGLE)
    return re.compile(rf"(?P<comment>{comments})|(?P<token>{strings}|{_WORD}|\d[\w.]*|\S)")


def _is_name(text: str) -> bool:
    return text[0].isalpha() or text[0] in "_$"
