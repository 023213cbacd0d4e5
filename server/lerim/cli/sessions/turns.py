"""`lerim sessions facts|export`: what the turns of one session show, and the turns in one form for all agents."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from lerim.cli.terminal import JsonOption, find_home, output, with_error_exit
from lerim.errors import Problem
from lerim.memory import SPEAKER_NAMES
from lerim.sessions import RELATIONS, Relation, export_session, group_problems
from lerim.views import find_one_session, load_session_facts, open_catalog_if_any

SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session's id; the first characters are enough.")
]
_RELATION_TEXTS: dict[Relation, str] = {
    "decided": "decided",
    "produced_error": "failed",
    "succeeded": "passed",
    "wrote": "wrote",
    "read": "read",
    "mentions": "names",
    "prefers": "prefers",
    "depends_on": "needs",
    "fixed_by": "was fixed by",
    "remembered": "remembered",
}
_SPEAKERS = {"user": SPEAKER_NAMES["user"], "assistant": SPEAKER_NAMES["assistant"]}
"""The entities that are speakers. Other entities are commands, tools and the things that a model names, such as a
service `web`."""


@with_error_exit
def facts_command(
    session: SessionArgument,
    relation: Annotated[
        list[str],
        typer.Option("--relation", metavar="RELATION", help=f"Only these; can be repeated: {', '.join(RELATIONS)}."),
    ] = [],  # noqa: B006 - typer reads it and never writes it
    as_json: JsonOption = False,
) -> None:
    """Print what the turns of a session show: decisions, failures, and files written or read."""
    for name in relation:
        if name not in RELATIONS:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(RELATIONS)}.", param_hint="--relation")
    found = load_session_facts(find_home(), session, relation)
    if as_json:
        output.show_json(found)
        return
    for fact in found.facts:
        instead = f" (instead of {', '.join(fact.supersedes)})" if fact.supersedes else ""
        relation_text = _RELATION_TEXTS[fact.relation]
        entity = _SPEAKERS.get(fact.entity, fact.entity)
        subject = "" if entity.lower() == relation_text else f"{entity}: "
        text = f"[{fact.number}] {subject}{relation_text}: {fact.value}{instead}"
        output.print_line(output.escape_controls(text))
    if not found.facts:
        output.print_line("No facts. Facts are kept for sessions that ran in a repository you have synced.")


@with_error_exit
def export_session_command(
    session: SessionArgument,
    format: Annotated[
        Literal["jsonl"], typer.Option("--format", help="The form: one JSON object a line for each turn.")
    ] = "jsonl",
) -> None:
    """Print a session of any agent in one form (docs/SESSION_FORMAT.md), with secrets removed."""
    problems: list[Problem] = []
    with open_catalog_if_any(find_home()) as catalog:
        found = find_one_session(catalog, session)
        for turn in export_session(catalog.db, found.place, problems) if catalog else ():
            output.show_json_line(turn)
    output.print_problems(group_problems(problems))
