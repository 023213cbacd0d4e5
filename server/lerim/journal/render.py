"""Entries as markdown: a day, a span such as a week, and release notes. All are renderings of the same entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from lerim.extraction import shorten
from lerim.journal.entry import SECTION_TITLES, JournalEntry, JournalSentence, JournalSource, Section
from lerim.times import format_clock, format_date, format_day, format_moment

NOTHING = "Nothing was said in sessions or committed."
MAX_SOURCE_TITLE_CHARS = 90
RELEASE_SECTIONS: tuple[Section, ...] = ("done", "decided", "learned", "obsolete")
"""The sections of release notes: what was left open in between is not part of a release."""


def render_markdown(entry: JournalEntry) -> str:
    """Renders the entry of a day: its sections with their sentences, and what the numbers at their ends stand for."""
    return f"# {entry.title}\n\n{render_body(entry)}"


def render_body(entry: JournalEntry) -> str:
    """Renders an entry without its title."""
    if not entry.sentences:
        return f"{NOTHING}\n"
    lines = [*_render_sections(entry, "##"), "## Sources", *_list_sources(entry)]
    return "\n".join(lines) + "\n"


def render_span(title: str, entries: Sequence[JournalEntry]) -> str:
    """Renders the entries of several days, such as a week, each with its own sources. Days without an entry are
    left out."""
    parts = [f"# {title}", ""]
    for entry in entries:
        if entry.sentences:
            parts += [f"## {format_date(date.fromisoformat(entry.day))}", "", *_render_sections(entry, "###")]
            parts += ["### Sources", *_list_sources(entry), ""]
    return "\n".join([*parts[:-1], ""]) if len(parts) > 2 else f"# {title}\n\n{NOTHING}\n"


def render_release(title: str, entries: Sequence[JournalEntry]) -> str:
    """Renders the entries between two tags as release notes: section by section, each sentence with its commits,
    sessions and memories by name."""
    parts = [f"# {title}", ""]
    for section in RELEASE_SECTIONS:
        lines = [
            f"- {sentence.text}{_name_sources(entry, sentence)}"
            for entry in entries
            for sentence in entry.sentences
            if sentence.section == section
        ]
        if lines:
            parts += [f"## {SECTION_TITLES[section]}", *dict.fromkeys(lines), ""]
    return "\n".join(parts) if len(parts) > 2 else f"# {title}\n\n{NOTHING}\n"


def _render_sections(entry: JournalEntry, heading: str) -> Iterator[str]:
    for section, title in SECTION_TITLES.items():
        sentences = [sentence for sentence in entry.sentences if sentence.section == section]
        if sentences:
            yield f"{heading} {title}"
            yield from _render_topics(sentences, f"{heading}#" if section == "done" else "")
            yield ""


def _render_topics(sentences: Sequence[JournalSentence], heading: str) -> Iterator[str]:
    """Yields the sentences as a list. With a `heading`, each topic has one."""
    topic = ""
    for sentence in sentences:
        if heading and sentence.topic != topic:
            topic = sentence.topic
            yield from ("", f"{heading} {topic}") if topic else ()
        numbers = "".join(f"[{number}]" for number in sentence.sources)
        yield f"- {sentence.text} {numbers}"


def _list_sources(entry: JournalEntry) -> Iterator[str]:
    """Yields a line for each source. The turns of one session share a line, as most sentences have several."""
    turns: dict[str, list[JournalSource]] = {}
    for source in entry.sources:
        if source.kind == "turn":
            turns.setdefault(source.session, []).append(source)
    for source in entry.sources:
        if source.kind != "turn":
            yield _describe_source(source)
        elif turns[source.session][0] is source:
            yield _describe_turns(turns[source.session])


def _describe_turns(sources: Sequence[JournalSource]) -> str:
    first = sources[0]
    when = f", {format_day(first.time)}" if first.time else ""
    turns = ", ".join(
        f"[{source.number}] {format_clock(source.time) if source.time else f'turn {source.turn_number}'}"
        for source in sources
    )
    return f"- session “{shorten(first.title, MAX_SOURCE_TITLE_CHARS)}” (`{first.session[:8]}`){when}: {turns}"


def _describe_source(source: JournalSource) -> str:
    title = shorten(source.title, MAX_SOURCE_TITLE_CHARS)
    reference = source.ref.partition(":")[2]
    what = {
        "commit": f"commit `{reference[:12]}`, “{title}”",
        "tag": f"tag `{title}`",
        "note": f"note “{title}”",
        "memory": f"memory “{title}” (`{reference}`)",
    }[source.kind]
    when = f", {format_moment(source.time)}" if source.time else ""
    return f"- [{source.number}] {what}{when}"


def _name_sources(entry: JournalEntry, sentence: JournalSentence) -> str:
    """Returns the sources of a sentence by name, in parentheses; turns are only counted among the sessions."""
    sources = [source for source in entry.sources if source.number in sentence.sources]
    names = [
        f"session `{source.session[:8]}`"
        if source.kind == "turn"
        else f"`{source.ref.partition(':')[2][:12]}`"
        if source.kind == "commit"
        else f"`{source.ref.partition(':')[2]}`"
        for source in sources
    ]
    return f" ({', '.join(dict.fromkeys(names))})"
