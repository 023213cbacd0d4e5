"""Hovers on the keys of a memory file's frontmatter, which say what each is for, and the quotes that are kept outside
the file: a hint behind each empty one says where, its hover shows it."""

from __future__ import annotations

from lsprotocol import types

from lerim.errors import LerimError
from lerim.lsp.boundary import escape_block, escape_line
from lerim.lsp.features.language.completion import find_key
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_text
from lerim.lsp.protocol import redact_text
from lerim.lsp.window import Sidecar
from lerim.memory import TextSpan, Value

KEY_HELP = {
    "id": "The name of the memory and of its file. Links between memories use it.",
    "title": "What the memory says, in one sentence. Hovers, lists and agents show it.",
    "created": "The day the memory began to hold.",
    "updated": "The day the memory was last changed.",
    "source": "Where the memory comes from: the agent, the session and the message, or `manual` if a person wrote it.",
    "confidence": "How likely the memory is to be worth keeping, from 0 to 1. Accepting it yourself raises it to 0.9.",
    "tags": "Words to find the memory by, as `tag:` in a search.",
    "kind": "The kind of a learning: insight, procedure, friction, pitfall or preference. Only learnings have one; "
    "*Lerim: Change Memory Kind* makes a decision or a question of it.",
    "references": "The files that the memory is about, with `#` and a symbol where one is meant. Its hover is there.",
    "evidence": "What the memory is based on: the words that were said in the session.",
    "evidence.quote": "What was said, word for word. If it is empty, the quote is kept on a machine and not in git.",
    "evidence.turn": "The message of the session that the quote is from.",
    "evidence.who": "Who said it: `user` is a person, `assistant` the agent, `tool` a tool, and `web` a web page.",
    "verified": "The day and the commit at which the memory was last known to be true of the code.",
    "supersedes": "The memories that this one replaces.",
    "resolves": "The open questions that this memory answers.",
    "superseded_by": "The memory that replaces this one, which no longer holds.",
    "resolved_by": "The memory that answers this question.",
    "related": "Other memories about the same.",
}


def describe_key(text: MemoryText, line: int, character: int, *, trusted: bool) -> tuple[str, TextSpan] | None:
    """Returns what the key of this line is for, as markdown, and the line without its indentation. In a trusted
    workspace also the quote that is kept outside the file (blocking). None outside the frontmatter, and for an
    unknown key."""
    head, written = text.document.frontmatter, text.line(line)
    if head is None or not head.start_line <= line <= head.end_line or written.lstrip().startswith("#"):
        return None
    key, _ = find_key(text, line)
    span = TextSpan(line, len(written) - len(written.lstrip()), line, len(written))
    if key not in KEY_HELP or not span.contains(line, character):
        return None
    kept = _find_kept_quote(text, line) if trusted and key == "evidence.quote" else ""
    return f"{KEY_HELP[key]}{kept}", span


async def list_quote_hints(sidecar: Sidecar, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    """Returns a hint behind each empty quote of a memory file that says where the quote is kept."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    if text is None or all(value.text for value in text.document.values("evidence.quote")):
        return None
    return await sidecar.run_in_thread(_make_hints, text, sidecar.options.trusted)


def _make_hints(text: MemoryText, trusted: bool) -> list[types.InlayHint]:
    kept = _load_kept_quotes(text) if trusted else {}
    hints = []
    for value in text.document.values("evidence.quote"):
        if not value.text:
            place = "outside this file" if not trusted else f"on {'this' if kept.get(value) else 'another'} machine"
            end = text.range(value.span).end
            after = types.Position(end.line, end.character + 1)  # behind the quotation mark
            hints.append(types.InlayHint(after, f"kept {place}", padding_left=True))
    return hints


def _find_kept_quote(text: MemoryText, line: int) -> str:
    """Returns where the quote of an entry without one is kept, and the quote; "" if the file has it."""
    empty = (value for value in text.document.values("evidence.quote") if not value.text)
    value = next((value for value in empty if value.span.start_line == line), None)
    if value is None:
        return ""
    quote = _load_kept_quotes(text).get(value, "")
    if not quote:
        return "\n\nIt is not on this machine."
    said = escape_block(redact_text(quote))
    place = escape_line(str(text.store.quotes.path_for(text.path.stem)))
    return f"\n\n{said}\n\nThis quote is kept in {place}."


def _load_kept_quotes(text: MemoryText) -> dict[Value, str]:
    """Returns the quotes that are kept on this machine, by the empty value of the file that each belongs to
    (blocking)."""
    quotes, turns = text.document.values("evidence.quote"), text.document.values("evidence.turn")
    if len(quotes) != len(turns):
        return {}
    try:
        evidence = text.store.load(text.path)[0].record.evidence
    except LerimError:
        return {}
    by_turn = {one.turn: one.quote for one in reversed(evidence) if one.quote}
    pairs = zip(quotes, turns, strict=True)
    return {value: by_turn[turn.text] for value, turn in pairs if not value.text and turn.text in by_turn}
