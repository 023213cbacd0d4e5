"""The candidates that speak of a file, for comments on its lines: a second place to review them beside the panel.

The comments' text is markdown in which everything that comes from a transcript is escaped.
"""

from __future__ import annotations

import msgspec

from lerim.lsp.boundary import escape_block, escape_line, shorten_text, split_lines
from lerim.lsp.features.language import read_source
from lerim.lsp.protocol import FileParams, redact_text
from lerim.lsp.window import FileLocation, Sidecar, candidate_counts
from lerim.memory import SPEAKER_NAMES, definitions, is_quoted, parse_reference
from lerim.review import CandidateView, Proposal, candidate_view, flag_text, queue

MAX_COMMENTS = 20
"""Comments in one file; the panel lists the other candidates."""
MAX_BODY = 2000
MAX_QUOTE = 400
MAX_REASON = 400


class CandidateComment(msgspec.Struct, frozen=True):
    """A candidate as a comment on a file. `heading` says what is proposed, `text` is the comment as markdown; `title`,
    `body` and `tags` are what can be edited. `line` (from 0) defines `symbol`; where that is not found (`found` is
    false), and for a reference to the whole file, it is the first. `choice`: accepting needs a decision about similar
    memories, or about those it changes."""

    id: str
    heading: str
    text: str
    title: str
    body: str
    tags: list[str]
    time: str
    line: int
    symbol: str
    found: bool
    choice: bool


class FileComments(msgspec.Struct, frozen=True):
    """The candidates that speak of a file, the most confident first. `root` is for actions on them."""

    root: str
    comments: list[CandidateComment]


async def list_file_comments(sidecar: Sidecar, params: FileParams) -> FileComments:
    """Returns the candidates that speak of a file and its symbols; none in Restricted Mode or outside any
    repository."""
    location = await sidecar.repos.locate_file(params.uri) if sidecar.options.trusted else None
    if location is None:
        return FileComments("", [])
    return await sidecar.run_in_thread(_list_comments, sidecar, location)


def _list_comments(sidecar: Sidecar, location: FileLocation) -> FileComments:
    repo = location.repo
    root = repo.uris[0]
    if not candidate_counts.count_candidates(sidecar, repo):  # counted without reading any of them
        return FileComments(root, [])
    paths = candidate_counts.find_review_paths(sidecar, repo)
    referring = queue.list_pending_of_file(paths, location.path)
    if not referring:
        return FileComments(root, [])
    source = read_source(sidecar, repo, location.path) or ""
    find_line = definitions.make_symbol_finder(location.path, source, split_lines(source))
    comments = [
        _make_comment(proposal, *_find_place(proposal, location.path, find_line))
        for proposal in queue.with_neighbours(paths, referring[:MAX_COMMENTS])
    ]
    return FileComments(root, comments)


def _find_place(proposal: Proposal, path: str, find_line: definitions.SymbolFinder) -> tuple[int | None, str]:
    """Returns the first symbol of the file that is found, and its line; else the first symbol, or "" for the whole
    file."""
    references = filter(None, map(parse_reference, proposal.record.references))
    symbols = [one.symbol for one in references if one.path == path and one.symbol]
    for symbol in symbols:
        if (line := find_line(symbol)) is not None:
            return line, symbol
    return None, symbols[0] if symbols else ""


def _make_comment(proposal: Proposal, line: int | None, symbol: str) -> CandidateComment:
    view = candidate_view(proposal)
    return CandidateComment(
        id=view.id,
        heading=_describe_proposal(view),
        text=_render_comment(view),
        title=view.title,
        body=view.body,
        tags=view.tags,
        time=view.time,
        line=line or 0,
        symbol=symbol,
        found=line is not None,
        choice=queue.needs_choice(proposal),
    )


def _describe_proposal(view: CandidateView) -> str:
    kind = view.kind or view.primitive
    article = "an" if kind[0] in "aeiou" else "a"
    return f"Lerim proposes {article} {kind} · confidence {view.confidence * 100:.0f} %"


def _render_comment(view: CandidateView) -> str:
    quotes = [one for one in view.evidence if one.quote.strip()]
    repeating = [one for one in quotes if is_quoted(view.title, one.quote) and is_quoted(one.quote, view.title)]
    title = f"**{escape_line(view.title) or 'Untitled'}**"
    speakers = dict.fromkeys(SPEAKER_NAMES[one.who] for one in repeating)
    parts = [f"{title} ({', '.join(speakers)})" if speakers else title]
    parts += [f"⚠ {escape_line(flag_text(flag))}" for flag in view.flags]
    if view.text:
        parts.append(escape_block(shorten_text(view.text, MAX_BODY)))
    if view.reason:
        parts.append(escape_line(shorten_text(view.reason, MAX_REASON)))
    parts += [
        f"> “{escape_line(shorten_text(one.quote, MAX_QUOTE))}”  \n> ({SPEAKER_NAMES[one.who]})"
        for one in quotes
        if one not in repeating
    ]
    return redact_text("\n\n".join(parts))
