"""`lerim eval`: how good extraction is, measured on sessions that independent readers have labelled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lerim import output
from lerim.cli_place import Json, guarded
from lerim.errors import Problem, SettingsError

Part = Literal["open", "held", "all"]


@guarded
def eval_command(
    labels: Annotated[Path, typer.Option(metavar="DIR", help="The folder of labels.")] = Path("evals/labels"),
    sessions: Annotated[
        Path, typer.Option(metavar="DIR", envvar="LERIM_TEST_SESSIONS", help="Where the labelled sessions lie.")
    ] = Path("sessions"),
    verdicts: Annotated[Path, typer.Option(metavar="FILE", help="What a reader said of earlier proposals.")] = Path(
        "evals/verdicts.toml"
    ),
    part: Annotated[Part, typer.Option("--set", help="Which labels: those set aside are “held”.")] = "open",
    extractor: Annotated[
        Literal["rules", "model"], typer.Option(help="The rules alone, or with the model your settings name.")
    ] = "rules",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the run's figures here.")] = None,
    against: Annotated[Path | None, typer.Option(metavar="FILE", help="Compare with a run kept by --out.")] = None,
    as_json: Json = False,
) -> None:
    """Run the extractor over labelled sessions and print how right it is."""
    from lerim.evaluation import figures
    from lerim.evaluation.extractors import by_model, by_rules
    from lerim.evaluation.labels import read_labels, read_verdicts
    from lerim.evaluation.raw import texts
    from lerim.evaluation.score import score

    chosen, problems = read_labels(labels)
    chosen = [one for one in chosen if part == "all" or one.held == (part == "held")]
    files = {path.stem: path for path in sorted(sessions.rglob("*.jsonl"))}
    extract = by_model if extractor == "model" else by_rules
    runs = []
    for label in chosen:
        if (path := files.get(label.session)) is None:
            problems.append(Problem("session", str(sessions), f"Session {label.session} is not there; left out."))
            continue
        runs.append((label, extract(path, label.until), texts(path)))
    if not runs:
        raise SettingsError(
            "None of the labelled sessions is there.", where=str(sessions), todo="Name their folder with --sessions."
        )
    evaluation = score(extractor, runs, read_verdicts(verdicts))
    before = figures.kept(against) if against else None
    if out:
        figures.keep(evaluation, out)
    if as_json:
        output.show_json(evaluation)
    else:
        if before is None:
            output.show_table(("", evaluation.extractor), figures.rows(evaluation.figures))
        else:
            output.show_table(
                ("", evaluation.extractor, f"before: {before.extractor}"), figures.side_by_side(evaluation, before)
            )
        output.show_table(
            ("signal", "candidates", "right"),
            ((one.signal, str(one.candidates), str(one.right)) for one in evaluation.signals),
        )
        output.show_table(
            ("session", "signal", "judged", "proposed"),
            ((one.session[:8], one.signal, one.judged, one.title) for one in evaluation.proposals),
        )
        output.show_table(("session", "missed"), ((one.session[:8], one.claim) for one in evaluation.missed))
    output.warn(problems)
    raise typer.Exit(3 if problems else 0)
