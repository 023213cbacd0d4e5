"""Renders the turns of a session for a model: numbered, shortened, without secrets, and unable to forge our markers.

    [12] user:
    use pnpm here, not npm

    [13] assistant:
    Done.
    » Bash `pnpm test` (exit 1)
      2 failed

What the model saw is kept in pieces, each with its speaker, so that a quote can be found again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime

import msgspec

from lerim.extraction.facts import find_shown_files
from lerim.memory import Speaker
from lerim.patterns import compile_later
from lerim.redaction import clean_text
from lerim.sessions import Role, ToolCall, Turn, extract_own_words, split_message, trim_torn_words

MAX_TEXT_CHARS = 200_000  # characters of text that the person or the agent wrote in one turn
OUTPUT_CHARS = (300, 300)  # head and tail of tool output
FAILED_OUTPUT_CHARS = (600, 1_200)
MAX_CALLS = 60  # tool calls shown per turn: the first and the last ones
COMMAND_CHARS = (1_500, 500)  # a command may contain a text: an issue, a commit message
CODE_CHARS = 400  # characters shown of text written to a file
REASONING_CHARS = (250, 150)
THOUGHT = "thought"
"""The head of a piece of the agent's reasoning. Reasoning helps to understand the turn but is never quoted."""
WRITTEN = "written"
"""The head of a piece of text that the agent wrote to a file."""
MIN_REPEATED_CHARS = 400  # output of at least this many characters is not shown twice

INSTRUCTION_FILE = compile_later(
    r"(?:^|/)(?:CLAUDE|AGENTS?|GEMINI|MEMORY|copilot-instructions)(?:\.\w{1,12})?\.md$|\.mdc$|(?:^|/)\.(?:lerim|"
    r"(?:cursor|windsurf|cline)rules|(?:claude|codex|cursor|gemini|github|kiro|opencode|windsurf)/(?:rules|instructions|"
    r"steering|memor(?:y|ies))/)|(?:^|/)\.claude/projects/[^/]{1,200}/memory/"
)
"""Matches instruction and memory files, from which nothing is learned."""
_ENCODED_DATA = compile_later(r"[A-Za-z0-9+/=_-]{240,}")
_FIELD_MARKER = compile_later(r"\[\[(?=\s{0,4}#)")
_TURN_HEADER = compile_later(r"^([ \t]{0,8})\[(?=\d{1,9}\])", re.MULTILINE)
_CALL_MARKER = compile_later(r"^([ \t]{0,8})»", re.MULTILINE)


class ShownPiece(msgspec.Struct, frozen=True):
    """Text from one speaker, verbatim except for cuts. `head` describes it; "" for plain speech."""

    who: Speaker
    text: str
    head: str = ""


class ShownTurn(msgspec.Struct, frozen=True):
    """One turn as shown to a model. `id` is the turn's id, `number` its ordinal, by which the model refers to it."""

    id: str
    number: int
    role: Role
    time: datetime | None
    cwd: str
    pieces: tuple[ShownPiece, ...]
    paths: tuple[str, ...] = ()

    def words(self, who: str) -> str:
        """Returns everything this speaker said in the turn, verbatim."""
        return "\n\n".join(piece.text for piece in self.pieces if piece.who == who and piece.head != THOUGHT)

    @property
    def header(self) -> str:
        return f"[{self.number}] {self.role}:\n"

    def body(self) -> str:
        """Returns the turn's text without its header, cleaned, with delimiters escaped, ending with a newline."""
        return "\n".join(_render_piece(piece) for piece in self.pieces) + "\n"


def show_turn(turn: Turn) -> ShownTurn | None:
    """Returns a redacted turn in the form in which a model is shown it, or None if there is nothing to show."""
    pieces = tuple(piece for piece in _split_pieces(turn) if piece.text.strip() or piece.head not in ("", THOUGHT))
    if not pieces:
        return None
    paths = tuple(dict.fromkeys(path for call in turn.tool_calls for path in call.paths[:8]))[:40]
    return ShownTurn(turn.id, turn.ordinal, turn.role, turn.time, turn.cwd, pieces, paths)


def without_repeats(shown_turn: ShownTurn, turn_by_digest: dict[str, int]) -> ShownTurn:
    """Returns the turn with text that repeats an earlier turn verbatim (tool output, or text the agent wrote to a file)
    replaced by a note with the number of that turn.

    `turn_by_digest` maps the digests of texts shown so far to turn numbers; this turn's are added to it.
    """
    return msgspec.structs.replace(
        shown_turn,
        pieces=tuple(_replace_repeated(piece, shown_turn.number, turn_by_digest) for piece in shown_turn.pieces),
    )


def _replace_repeated(piece: ShownPiece, number: int, turn_by_digest: dict[str, int]) -> ShownPiece:
    if len(piece.text) < MIN_REPEATED_CHARS or not (piece.who in ("tool", "web") or piece.head == WRITTEN):
        return piece
    digest = hashlib.blake2b(piece.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    first = turn_by_digest.setdefault(digest, number)
    if first >= number:
        return piece
    note = f"[… {len(piece.text):,} characters, the same as in turn {first}, left out …]"
    return msgspec.structs.replace(piece, text=note)


def read_instructions(turn: Turn) -> str:
    """Returns the text that a turn read from instruction and memory files, from which nothing is learned."""
    return "\n".join(call.output for call in turn.tool_calls if call.output and find_instruction_files(call))


def _split_pieces(turn: Turn) -> Iterator[ShownPiece]:
    if turn.role == "user":
        yield from _prompt_pieces(turn)
        for call in turn.tool_calls:  # a command that the person ran
            yield from _output_pieces(call, "printed")
        return
    yield ShownPiece("assistant", shorten_middle(turn.reasoning, *REASONING_CHARS).strip(), THOUGHT)
    yield ShownPiece("assistant", shorten_middle(turn.text, MAX_TEXT_CHARS, MAX_TEXT_CHARS))
    calls = turn.tool_calls
    for call in calls if len(calls) <= MAX_CALLS else (*calls[: MAX_CALLS // 2], *calls[-MAX_CALLS // 2 :]):
        yield from _call_pieces(call)


def _prompt_pieces(turn: Turn) -> Iterator[ShownPiece]:
    text = turn.text
    if turn.unattended:
        yield ShownPiece("tool", shorten_middle(text, MAX_TEXT_CHARS, MAX_TEXT_CHARS), "sent by a program")
        return
    parts = split_message(text)
    own = all(part.own for part in parts)
    yield ShownPiece("user", shorten_middle(text if own else extract_own_words(text), MAX_TEXT_CHARS, MAX_TEXT_CHARS))
    if not own:
        pasted = "\n".join(part.text for part in parts if not part.own)
        yield ShownPiece("tool", shorten_middle(pasted, MAX_TEXT_CHARS, MAX_TEXT_CHARS), "pasted into the prompt")


def _call_pieces(call: ToolCall) -> Iterator[ShownPiece]:
    for answer in call.answers:
        asked = f"{answer.question}\n" + "\n".join(f"- {option}" for option in answer.options)
        yield ShownPiece("assistant", shorten_middle(asked, 2_000, 0), "the agent asked")
        if answer.answer:
            yield ShownPiece("user", shorten_middle(answer.answer, MAX_TEXT_CHARS, 0), "the person answered")
    if call.answers:
        return
    if call.plan:
        yield ShownPiece("assistant", shorten_middle(call.plan, 8_000, 2_000), f"plan, {_describe_outcome(call)}")
    else:
        yield from _paths_piece(call)
    if call.feedback:
        yield ShownPiece("user", shorten_middle(call.feedback, MAX_TEXT_CHARS, 0), "the person said to this")


def _paths_piece(call: ToolCall) -> Iterator[ShownPiece]:
    paths = " ".join(call.paths[:3])
    command = shorten_middle(" ".join(call.command.split()), *COMMAND_CHARS)
    what = command or _shorten_line(paths, 500)
    yield ShownPiece("assistant", what, f"{_shorten_line(call.name, 60)} ({_describe_outcome(call)})")
    for edit in call.edits[:4]:
        if edit.new.strip():
            yield ShownPiece("assistant", shorten_middle(edit.new, CODE_CHARS, 0), WRITTEN)
    if not find_instruction_files(call):
        yield from _output_pieces(call, "output")


def _output_pieces(call: ToolCall, head: str) -> Iterator[ShownPiece]:
    most = FAILED_OUTPUT_CHARS if call.status == "error" or call.exit_code else OUTPUT_CHARS
    text = shorten_middle(call.output, *most)
    if text.strip():
        yield ShownPiece("web" if call.kind == "web" else "tool", text, head)


def _describe_outcome(call: ToolCall) -> str:
    return f"exit {call.exit_code}" if call.exit_code else call.status


def find_instruction_files(call: ToolCall) -> tuple[str, ...]:
    """Returns the instruction and memory files that a tool call names or shows with a shell command."""
    paths = find_shown_files(call.command) if call.kind == "shell" else call.paths
    return tuple(path for path in paths if INSTRUCTION_FILE.search(path.replace("\\", "/")))


def shorten_middle(text: str, head: int, tail: int) -> str:
    """Returns the head and tail of a text with a note of what was left out; runs of encoded data are always left out.

    The text must already be redacted, because half a secret is no longer recognized. No word is cut in two.
    """
    if len(text) <= head + tail + 80 and not _ENCODED_DATA.search(text):
        return text
    text = _ENCODED_DATA.sub(lambda match: f"[… {len(match.group()):,} characters of data left out …]", text)
    if len(text) <= head + tail + 80:
        return text
    begin, end = trim_torn_words(text[:head], text[len(text) - tail :] if tail else "")
    return f"{begin}\n[… {len(text) - len(begin) - len(end):,} characters left out …]\n{end}".rstrip()


def _shorten_line(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{trim_torn_words(text[:most], '')[0]} [… cut …]"


def _render_piece(piece: ShownPiece) -> str:
    text = _escape_tags(clean_text(piece.text.strip("\r\n")))
    if not piece.head:
        return text
    head = f"» {clean_text(piece.head)}:"
    if "\n" not in text and len(text) <= 500:
        return f"{head} {text}".rstrip()
    return "\n".join((head, *(f"  {line}" for line in text.split("\n"))))


def _escape_tags(text: str) -> str:
    """Escapes text that looks like the header of a turn, a tool call or a prompt field; `quotes.fold_text` undoes
    it."""
    text = _FIELD_MARKER.sub("⟦", text)
    text = _TURN_HEADER.sub(r"\1⁅", text)
    return _CALL_MARKER.sub(r"\1›", text)
