"""Renders entries as markdown: a day, a span such as a week, and release notes. All of them are made from the same
entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from urllib.parse import quote

from lerim.extraction import shorten
from lerim.journal.entry import SECTION_TITLES, JournalEntry, JournalSentence, JournalSource, Section
from lerim.times import format_clock, format_date, format_day, format_moment

SourceLink = Callable[[JournalSource], str]
"""Returns the target of a source's link, "" for no link."""
NOTHING = "Nothing was said in sessions or committed."
MAX_SOURCE_TITLE_CHARS = 90
RELEASE_SECTIONS: tuple[Section, ...] = ("done", "decided", "learned", "obsolete")
"""The sections of release notes. Questions that were left open in between are not part of a release."""


def link_from_repository(source: JournalSource) -> str:
    """Returns the path of a memory's file from the repository's root."""
    return quote(source.path)


def link_from_entry(source: JournalSource) -> str:
    """Returns the path of a memory's file from the file of an entry, `.lerim/memory/journal/YYYY/MM/DD.md`."""
    return quote(f"../../../{source.path.removeprefix('.lerim/memory/')}") if source.path else ""


def link_in_editor(source: JournalSource) -> str:
    """Returns the document with which the editor opens a turn, a commit or a memory: `<kind>/<what>.lerim-link`."""
    what = {"turn": source.turn, "commit": source.ref.partition(":")[2], "memory": quote(source.path)}.get(source.kind)
    return f"{source.kind}/{what}.lerim-link" if what else ""


def _no_link(_: JournalSource) -> str:
    return ""


def render_markdown(
    entry: JournalEntry, link: SourceLink = link_from_repository, number_link: SourceLink = _no_link
) -> str:
    """Renders the entry of a day: its sections with their sentences, and the sources for the numbers at the ends of
    sentences. The sources have links. With `number_link`, the numbers have links too, each with a tooltip that
    describes the source."""
    return f"# {entry.title}\n\n{render_body(entry, link, number_link)}"


def render_body(
    entry: JournalEntry, link: SourceLink = link_from_repository, number_link: SourceLink = _no_link
) -> str:
    """Renders an entry without its title."""
    if not entry.sentences:
        return f"{NOTHING}\n"
    lines = [*_render_sections(entry, "##", number_link), "## Sources", *_list_sources(entry, link)]
    return "\n".join(lines) + "\n"


def render_span(title: str, entries: Sequence[JournalEntry]) -> str:
    """Renders the entries of several days, such as a week, each with its own sources. Days without an entry are
    left out."""
    parts = [f"# {title}", ""]
    for entry in entries:
        if entry.sentences:
            parts += [f"## {format_date(date.fromisoformat(entry.day))}", "", *_render_sections(entry, "###", _no_link)]
            parts += ["### Sources", *_list_sources(entry, link_from_repository), ""]
    return "\n".join([*parts[:-1], ""]) if len(parts) > 2 else f"# {title}\n\n{NOTHING}\n"


def render_release(title: str, entries: Sequence[JournalEntry]) -> str:
    """Renders the entries between two tags as release notes: section by section, each sentence with its commits, and
    with memories by name. Each memory is named once in a section."""
    parts = [f"# {title}", ""]
    for section in RELEASE_SECTIONS:
        lines: dict[str, str] = {}  # by memories, or by the sentence if it has none
        for entry in entries:
            memories = {source.number: source.ref for source in entry.sources if source.kind == "memory"}
            for sentence in entry.sentences:
                if sentence.section == section:
                    line = f"- {sentence.text}{_name_sources(entry, sentence)}"
                    only_memories = all(number in memories for number in sentence.sources)
                    key = " ".join(memories[number] for number in sentence.sources) if only_memories else line
                    lines.setdefault(key, line)
        if lines:
            parts += [f"## {SECTION_TITLES[section]}", *lines.values(), ""]
    return "\n".join(parts) if len(parts) > 2 else f"# {title}\n\n{NOTHING}\n"


def _render_sections(entry: JournalEntry, heading: str, link: SourceLink) -> Iterator[str]:
    links = {source.number: _with_tooltip(link(source), source) for source in entry.sources}
    for section, title in SECTION_TITLES.items():
        sentences = [sentence for sentence in entry.sentences if sentence.section == section]
        if sentences:
            yield f"{heading} {title}"
            yield from _render_topics(sentences, f"{heading}#" if section == "done" else "", links)
            yield ""


def _render_topics(sentences: Sequence[JournalSentence], heading: str, links: Mapping[int, str]) -> Iterator[str]:
    """Yields the lines of the sentences as a list. With a `heading`, each topic has one. `links` are the links of
    the numbers."""
    topic = ""
    for sentence in sentences:
        if heading and sentence.topic != topic:
            topic = sentence.topic
            yield from ("", f"{heading} {topic}") if topic else ()
        numbers = "".join(_with_link(f"[{number}]", links[number]) for number in sentence.sources)
        yield f"- {sentence.text} {numbers}"


def _with_tooltip(target: str, source: JournalSource) -> str:
    """Returns the target of a link with a tooltip that says which source it is and when that was; "" for no link."""
    if not target:
        return ""
    what = "session" if source.kind == "turn" else source.kind
    when = f", {format_moment(source.time)}" if source.time else ""
    title = shorten(source.title, MAX_SOURCE_TITLE_CHARS).replace("`", "").replace('"', "'")
    return f'{target} "{what} “{title}”{when}"'


def _with_link(text: str, target: str) -> str:
    return f"[{text}]({target})" if target else text


def _list_sources(entry: JournalEntry, link: SourceLink) -> Iterator[str]:
    """Yields a line for each source. The turns of one session share a line, because most sentences have several."""
    turns: dict[str, list[JournalSource]] = {}
    for source in entry.sources:
        if source.kind == "turn":
            turns.setdefault(source.session, []).append(source)
    for source in entry.sources:
        if source.kind != "turn":
            yield _describe_source(source, link)
        elif turns[source.session][0] is source:
            yield _describe_turns(turns[source.session], link)


def _describe_turns(sources: Sequence[JournalSource], link: SourceLink) -> str:
    first = sources[0]
    when = f", {format_day(first.time)}" if first.time else ""
    turns = ", ".join(
        f"[{source.number}] {_with_link(when_said, link(source))}"
        for source in sources
        if (when_said := format_clock(source.time) if source.time else f"turn {source.turn_number}")
    )
    return f"- session “{shorten(first.title, MAX_SOURCE_TITLE_CHARS)}” (`{first.session[:8]}`){when}: {turns}"


def _describe_source(source: JournalSource, link: SourceLink) -> str:
    title = shorten(source.title, MAX_SOURCE_TITLE_CHARS)
    reference, target = source.ref.partition(":")[2], link(source)
    what = {
        "commit": f"commit {_with_link(f'`{reference[:12]}`', target)}, “{title}”",
        "tag": f"tag `{title}`",
        "note": f"note “{title}”",
        "memory": f"memory “{title}” ({_with_link(f'`{reference}`', target)})",
    }[source.kind]
    when = f", {format_moment(source.time)}" if source.time else ""
    return f"- [{source.number}] {what}{when}"


def _name_sources(entry: JournalEntry, sentence: JournalSentence) -> str:
    """Returns the sources of a sentence by name, in parentheses."""
    sources = [source for source in entry.sources if source.number in sentence.sources]
    names = [
        f"`{source.ref.partition(':')[2][:12]}`" if source.kind == "commit" else f"`{source.ref.partition(':')[2]}`"
        for source in sources
    ]
    return f" ({', '.join(dict.fromkeys(names))})"
