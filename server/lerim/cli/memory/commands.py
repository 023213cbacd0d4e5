"""`lerim memory list|search|show|add`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Annotated, Literal, TypeVar, get_args

import typer

from lerim.cli.review import format_type
from lerim.cli.terminal import (
    ALL,
    CURRENT_FOLDER,
    GlobalOption,
    JsonOption,
    MeaningOption,
    RepoOption,
    describe_search_by_meaning,
    find_review_paths,
    get_from_server,
    make_memory_id_finder,
    open_command_context,
    output,
    parse_time_option,
    parse_typed_references,
    post_to_server,
    refresh_agent_files,
    report_reading,
    resolve_file_filter,
    with_error_exit,
)
from lerim.errors import MemoryError_, UsageError
from lerim.memory import (
    KINDS,
    MAX_FILE_BYTES,
    MEMORY_SPEAKER_NAMES,
    SEARCHED_PRIMITIVES,
    SPEAKER_NAMES,
    STATUSES,
    LearningKind,
    MemoryFilters,
    load_sentence_model,
    split_kind,
)
from lerim.review import ReviewPaths, queue
from lerim.times import end_of_day, format_date, format_day
from lerim.views import (
    DRIFT_LABELS,
    AddedMemoryOutput,
    MemoryListOutput,
    ShownMemoryOutput,
    describe_source,
    find_memories,
    find_missing_references,
    list_memories,
    load_added_memory,
    load_memory,
)

memory_app = typer.Typer(help="List, search and change memories.", no_args_is_help=True)

PrimitiveName = Literal["decision", "learning", "question", "theme"]
KindName = Literal[PrimitiveName, LearningKind]
"""The name that a person uses for the kind of a memory: its primitive, or the kind of a learning."""
Choice = TypeVar("Choice", bound=str)
TagsOption = Annotated[list[str], typer.Option("--tag", metavar="TAG", help="Can be repeated.")]
KindsOption = Annotated[
    list[str],
    typer.Option(
        "--kind", metavar="KIND", help=f"Only of this kind; can be repeated: {', '.join(get_args(KindName))}."
    ),
]
FileOption = Annotated[
    str,
    typer.Option(metavar="PATH", help="Only memories about this file or folder: a path, the end of one, or a name."),
]
StatusesOption = Annotated[
    list[str],
    typer.Option(
        "--status", metavar="STATUS", help=f"Only with this status: {', '.join(STATUSES)} or any. Default: active."
    ),
]
ArchivedOption = Annotated[
    bool,
    typer.Option("--archived", help="Include archived, superseded and resolved memories; the same as --status any."),
]
SinceOption = Annotated[
    str, typer.Option(metavar="WHEN", help="Only memories changed since this time, such as `30d` or `2026-07-01`.")
]
UntilOption = Annotated[str, typer.Option(metavar="WHEN", help="Only memories changed before this time.")]
AsOfOption = Annotated[
    str,
    typer.Option(
        "--as-of", metavar="DATE", help="The memories as they were at the end of this day, such as `2026-07-01`."
    ),
]


@memory_app.command("list")
@with_error_exit
def list_command(
    kind: KindsOption = [],  # noqa: B006 - typer reads it and never writes it
    tag: TagsOption = [],  # noqa: B006 - as above
    file: FileOption = "",
    status: StatusesOption = [],  # noqa: B006 - as above
    since: SinceOption = "",
    until: UntilOption = "",
    archived: ArchivedOption = False,
    as_of: AsOfOption = "",
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """List this repository's memories, most recently changed first."""
    paths = find_review_paths(repo, personal)
    filters = _make_filters(paths, kind, tag, file, status, archived, since, until)
    moment = parse_time_option(as_of, "--as-of")
    as_of_time = end_of_day(moment) if moment else None
    # text that is not printed need not be searched for secrets
    query = {**_make_query(filters, since, until), **ALL, "as_of": as_of, "brief": not as_json}
    found = None if file else get_from_server(paths.home, ["memories"], MemoryListOutput, query, project=paths.project)
    found = found or list_memories(paths, filters, as_of=as_of_time, with_text=as_json)
    _show_memories(found, as_json=as_json)


@memory_app.command("search")
@with_error_exit
def search_command(
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORDS", help="The words to find; if left out, the newest memories are shown."),
    ] = [],  # noqa: B006
    kind: KindsOption = [],  # noqa: B006 - as above
    tag: TagsOption = [],  # noqa: B006 - as above
    file: FileOption = "",
    status: StatusesOption = [],  # noqa: B006 - as above
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1000, help="The most results to show. The default is the setting search.limit."
        ),
    ] = None,
    archived: ArchivedOption = False,
    meaning: MeaningOption = False,
    scan: Annotated[bool, typer.Option("--scan", help="Read every file instead of using the index.")] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Search memories, including your personal ones; best match first.

    The words may include the editor's filters, such as `kind:pitfall` or `is:drifted`. Repeating `--kind` widens
    the search; repeating `--tag` narrows it.
    """
    context = open_command_context(repo, personal=personal)
    filters = _make_filters(context.review_paths, kind, tag, file, status, archived, since, until)
    has_statuses = bool(status) or archived
    text = " ".join(words)
    query = {**_make_query(filters, since, until, has_statuses=has_statuses), "q": text, "limit": limit}
    is_done_here = meaning or scan or file or "file:" in text
    found = (
        None
        if is_done_here
        else get_from_server(context.home, ["memories", "search"], MemoryListOutput, query, project=context.project)
    )
    found = found or find_memories(
        context,
        text,
        filters,
        limit,
        has_statuses=has_statuses,
        scan=scan,
        resolve_file=partial(resolve_file_filter, context.review_paths),
        model=load_sentence_model() if meaning else None,
        report=report_reading,
    )
    _show_memories(found, as_json=as_json)
    lacks_words = len(found.by_some_words) == len(found.memories)
    if words and lacks_words and context.project.memory_dir.is_dir() and not (meaning or as_json):
        output.print_line(describe_search_by_meaning())


def _make_filters(
    paths: ReviewPaths,
    kinds: Sequence[str],
    tags: Sequence[str],
    file: str,
    statuses: Sequence[str],
    archived: bool,
    since: str,
    until: str,
) -> MemoryFilters:
    if file and paths.project.is_personal:
        raise typer.BadParameter(
            "Personal memories belong to no repository; leave this option out.", param_hint="--file"
        )
    wanted_kinds = _validate_choices("--kind", get_args(KindName), kinds)
    wanted_statuses = _validate_choices("--status", (*STATUSES, "any"), statuses)
    include_all = archived or "any" in wanted_statuses
    return MemoryFilters(
        primitives=tuple(one for one in SEARCHED_PRIMITIVES if one in wanted_kinds),
        kinds=tuple(one for one in KINDS if one in wanted_kinds),
        tags=tuple(tags),
        files=resolve_file_filter(paths, file) if file else (),
        statuses=STATUSES if include_all else tuple(one for one in STATUSES if one in wanted_statuses) or ("active",),
        since=parse_time_option(since, "--since"),
        until=parse_time_option(until, "--until"),
    )


def _make_query(filters: MemoryFilters, since: str, until: str, *, has_statuses: bool = True) -> dict[str, object]:
    """Returns the same filters, with the names that the API uses. Files are left out, because their names depend on
    the current folder."""
    return {
        "primitive": filters.primitives,
        "kind": filters.kinds,
        "tag": filters.tags,
        "status": filters.statuses if has_statuses else (),
        "since": since,
        "until": until,
    }


def _validate_choices(option: str, choices: Sequence[Choice], words: Sequence[str]) -> tuple[Choice, ...]:
    """Returns the given choices in the order of `choices`. Raises typer.BadParameter for any other word."""
    for word in words:
        if word not in choices:
            listing = ", ".join(map(repr, choices))
            raise typer.BadParameter(f"{word!r} is not one of {listing}.", param_hint=option)
    return tuple(choice for choice in choices if choice in words)


@memory_app.command("show")
@with_error_exit
def show_command(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="As shown by `lerim memory list`; the first characters are enough.")
    ],
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Print one memory with its evidence. Opening it counts as a use."""
    paths = find_review_paths(repo, personal)
    name = make_memory_id_finder(paths)(memory_id)
    if not personal and paths.store().path_of(name) is None and paths.personal().store().path_of(name) is not None:
        paths, personal = paths.personal(), True  # search results and answers include personal memories
    memory_output = get_from_server(
        paths.home, ["memories", name], ShownMemoryOutput, project=paths.project
    ) or load_memory(paths, name)
    output.print_problems(memory_output.problems)
    if as_json:
        output.show_json(memory_output)
        return
    output.print_line(output.escape_controls(memory_output.title))
    kind = format_type(memory_output.primitive, memory_output.kind)
    confidence = output.format_percent(memory_output.confidence)
    output.print_line(f"{kind}, {memory_output.status}, confidence {confidence}, {format_day(memory_output.updated)}")
    if memory_output.ended:
        why = f": {memory_output.why}" if memory_output.why else ""
        output.print_line(output.escape_controls(f"{memory_output.status} {format_day(memory_output.ended)}{why}"))
    if memory_output.drift:
        day = memory_output.drifted_since
        since = f" since {format_date(date.fromisoformat(day))}" if day else ""
        label = f"{DRIFT_LABELS[memory_output.drift]}{since}"
        output.print_line(output.escape_controls(f"{label}: {memory_output.drift_detail}"))
    output.print_line("\n" + output.escape_controls(memory_output.body, lines=True).rstrip() + "\n")
    names = SPEAKER_NAMES if personal or _was_made_here(paths, name) else MEMORY_SPEAKER_NAMES
    for quote in memory_output.evidence:
        words = f"“{output.escape_controls(quote.quote)}”" if quote.quote else "(the quote is kept on another machine)"
        output.print_line(f"  {names[quote.who]}: {words}")
    for name, values in (("references", memory_output.references), ("tags", memory_output.tags)):
        if values:
            output.print_line(f"{name}: {output.escape_controls(', '.join(values))}")
    source = output.escape_controls(describe_source(memory_output))
    output.print_line(f"source: {source}\nfile: {output.escape_controls(memory_output.path)}")


def _was_made_here(paths: ReviewPaths, memory_id: str) -> bool:
    """Returns whether a memory was made on this machine. If that cannot be determined, prints the reason."""
    try:
        return memory_id in queue.list_own_memories(paths)
    except MemoryError_ as error:
        output.print_problems([error.problem()])
        return False


@memory_app.command("add")
@with_error_exit
def add_command(
    title: Annotated[str, typer.Option(metavar="TEXT", help="The memory in one line, such as “Use uv, not pip”.")],
    kind: Annotated[KindName, typer.Option(help="The kind of memory; a learning is an insight.")] = "decision",
    body: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The details: what, why and where; `-` reads them from standard input."),
    ] = None,
    tag: TagsOption = [],  # noqa: B006 - as above
    reference: Annotated[
        list[str], typer.Option("--reference", metavar="PATH[#SYMBOL]", help="A file it is about. Can be repeated.")
    ] = [],  # noqa: B006 - as above
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Write a memory by hand."""
    if personal and reference:
        raise typer.BadParameter(
            "Personal memories belong to no repository; leave this option out.", param_hint="--reference"
        )
    primitive, learning_kind = split_kind("insight" if kind == "learning" else kind)
    paths = find_review_paths(repo, personal)
    text = "" if body is None else read_body(body)
    references = parse_typed_references(paths.project, reference)
    words = {"title": title, "body": text, "tags": tag, "references": references}
    typed = {**words, "primitive": primitive, "kind": learning_kind}
    added = post_to_server(paths.home, ["memories"], typed, AddedMemoryOutput, project=paths.project)
    if added is None:
        result = queue.add_memory(paths, primitive, title, text, kind=learning_kind, tags=tag, references=references)
        added = load_added_memory(paths, result)
    refresh_agent_files(paths.project, paths.home)
    if removed_note := added.message.partition("\n")[2]:
        output.print_note(f"note: {removed_note}")
    for message in find_missing_references(paths.project, added.references):
        output.print_note(f"note: {output.escape_controls(message)}")
    if as_json:
        output.show_json(added)
        return
    if added.action is None:
        output.print_line(output.escape_controls(added.message))
        output.print_line(f"  file: {output.escape_controls(added.path)}")
        return
    output.print_line(f"Written: {output.escape_controls(added.id)}")
    undo_command = f"lerim review undo {added.action}{' --global' if personal else ''}"
    output.print_line(f"  file: {output.escape_controls(added.path)}\n  undo: {undo_command}")


def read_body(body: str) -> str:
    """Returns the text of `--body`, or of standard input for `-`. Raises UsageError if it is empty, too long or not
    readable."""
    try:
        text = sys.stdin.read(MAX_FILE_BYTES + 1) if body == "-" else body
    except UnicodeDecodeError as error:
        raise UsageError("The text is not UTF-8.", where="--body -", todo="Save it as UTF-8.") from error
    if not text.strip():
        todo = "Write some, or leave --body out. To remove a memory, use `lerim memory archive`."
        raise UsageError("The text would be empty.", where="--body", todo=todo)
    if len(text) > MAX_FILE_BYTES:
        raise UsageError(f"The text is longer than {MAX_FILE_BYTES // 1024} kB.", where="--body -", todo="Shorten it.")
    return text


def _show_memories(found: MemoryListOutput, *, as_json: bool) -> None:
    if as_json:
        output.show_json(found)
        return
    if found.memories:
        headings = dict.fromkeys(found.by_meaning[:1], "By meaning:")
        if headings:
            headings |= dict.fromkeys(found.by_some_words[:1], "By some of the words:")
        for view in found.memories:
            if view.id in headings:
                output.print_line(headings[view.id])
            files = f" ({', '.join(view.references)})" if view.references else ""
            scope = "personal" if view.scope == "global" else ""
            drift = DRIFT_LABELS.get(view.drift, "")
            marks = (format_type(view.primitive, view.kind), scope, view.status, drift)
            labels = ", ".join(mark for mark in marks if mark not in ("active", ""))
            output.show_item(view.id, [f"{labels}: {view.title}{files}"])
    else:
        output.print_line("No memories.")
    output.print_problems(found.problems)
