"""The command line of the evaluation. It measures extraction by default, else search, neighbours or rendering."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from lerim.cli.terminal import output
from lerim.cli.terminal.repository import with_error_exit
from lerim.errors import Problem, SettingsError
from lerim.paths import Home

if TYPE_CHECKING:
    from lerim.sessions.model import Transcript
    from lerim_evals.labels import Label

LabelSet = Literal["open", "held", "all"]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object (see evals/README.md).")]

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 some sessions, labels or questions were left out.")
@with_error_exit
def evaluate(
    labels: Annotated[Path, typer.Option(metavar="DIR", help="The folder of labels.")] = Path("evals/labels"),
    sessions: Annotated[
        Path, typer.Option(metavar="DIR", envvar="LERIM_TEST_SESSIONS", help="Where the labelled sessions lie.")
    ] = Path("sessions"),
    verdicts: Annotated[Path, typer.Option(metavar="FILE", help="What a reader said of earlier proposals.")] = Path(
        "evals/verdicts.toml"
    ),
    part: Annotated[LabelSet, typer.Option("--set", help="Which labels: those set aside are “held”.")] = "open",
    extractor: Annotated[
        Literal["rules", "model"], typer.Option(help="The rules alone, or with the model your settings name.")
    ] = "rules",
    answers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Take a model's answers from here; what is not there is asked and kept."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Measure search instead: how early it finds what answers these questions."),
    ] = None,
    neighbours: Annotated[
        bool,
        typer.Option(
            "--neighbours",
            help="Measure instead how often the right memory is among the three shown, on labelled pairs.",
        ),
    ] = False,
    rendering: Annotated[
        bool, typer.Option("--rendering", help="Measure what a model is shown instead: how much is left, what is lost.")
    ] = False,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Replay real projects' sessions instead: which repeats would memories have prevented?",
        ),
    ] = False,
    more: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="More sessions for --replay, laid out as OWNER+NAME/AGENT/SESSION.jsonl."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the run's figures here.")] = None,
    against: Annotated[Path | None, typer.Option(metavar="FILE", help="Compare with a run kept by --out.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run the extractor over labelled sessions and print how right it is."""
    if questions is not None:
        _measure_search(questions, sessions, out or against, as_json)
    if neighbours:
        _measure_neighbours(labels.parent, part, as_json)
    if replay:
        _replay_projects([sessions, *([more] if more else [])], part, as_json)
    from lerim_evals import report
    from lerim_evals.extractors import extract_by_rules, extract_with_model
    from lerim_evals.labels import read_labels, read_verdicts
    from lerim_evals.raw_text import read_all_text
    from lerim_evals.score import score
    from lerim_evals.sessions import find_labelled_sessions

    chosen, problems = read_labels(labels)
    chosen = [one for one in chosen if part == "all" or one.held == (part == "held")]
    files = (
        find_labelled_sessions(sessions, [(label.platform, label.session) for label in chosen])
        if sessions.is_dir()
        else {}
    )
    if rendering:
        _measure_rendering(
            [(files[found], label) for label in chosen if (found := (label.platform, label.session)) in files], as_json
        )
    extract = partial(extract_with_model, answers=answers) if extractor == "model" else extract_by_rules
    runs = []
    for label in chosen:
        if (transcript := files.get((label.platform, label.session))) is None:
            problems.append(Problem("session", str(sessions), f"Session {label.session} is not there; left out."))
            continue
        runs.append((label, extract(transcript, label.until), read_all_text(transcript.path)))
    if not runs:
        raise SettingsError(
            "None of the labelled sessions is there.", where=str(sessions), todo="Name their folder with --sessions."
        )
    evaluation = score(extractor, runs, read_verdicts(verdicts))
    before = report.load_evaluation(against) if against else None
    if out:
        report.save_evaluation(evaluation, out)
    if as_json:
        output.show_json(evaluation)
    else:
        if before is None:
            output.show_table(("", evaluation.extractor), report.figure_rows(evaluation.figures))
        else:
            output.show_table(
                ("", evaluation.extractor, f"before: {before.extractor}"), report.comparison_rows(evaluation, before)
            )
        if evaluation.platforms:
            output.show_table(
                ("agent", "sessions", "candidates", "precision", "recall", "faithful", "silent where nothing"),
                report.platform_rows(evaluation),
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
    output.print_problems(problems)
    raise typer.Exit(3 if problems else 0)


def main(argv: Sequence[str]) -> int:
    """Runs the evaluation with these arguments; returns the exit code."""
    try:
        app(args=list(argv), prog_name="lerim_evals")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    return 0


def _measure_rendering(sessions: list[tuple[Transcript, Label]], as_json: bool) -> NoReturn:
    """Renders each session the way a model sees it, and prints how much of the session that keeps."""
    from lerim_evals.rendering import render_session, rendering_rows

    found = [render_session(transcript, label) for transcript, label in sessions]
    if as_json:
        output.show_json(found)
    else:
        names = ("session", "agent", "tokens", "shown", "share", "memories", "evidence lost")
        output.show_table(names, rendering_rows(found))
        output.show_table(
            ("session", "evidence lost"), ((one.session[:8], claim) for one in found for claim in one.lost)
        )
    raise typer.Exit(0)


def _replay_projects(folders: list[Path], part: LabelSet, as_json: bool) -> NoReturn:
    """Replays the projects for tuning (open), for measuring (held) or all, and prints what memories would have
    prevented."""
    from lerim_evals.replay.projects import MIN_SESSIONS, find_projects, read_sessions
    from lerim_evals.replay.remembered import VARIANTS
    from lerim_evals.replay.repeats import load_labelled_repeats
    from lerim_evals.replay.replay import replay_project
    from lerim_evals.replay.report import (
        HEADS,
        channel_rows,
        compute_figures,
        load_judgments,
        load_split,
        project_rows,
    )

    split, labelled = load_split(), load_labelled_repeats()
    wanted = {"open": split.tuning, "held": split.measuring, "all": None}[part]
    replays, problems = [], []
    for project, transcripts in find_projects([folder for folder in folders if folder.is_dir()]).items():
        if len(transcripts) < MIN_SESSIONS or (wanted is not None and project not in wanted):
            continue
        found, unread = read_sessions(transcripts)
        problems += unread
        if len(found) >= MIN_SESSIONS:
            replays += [replay_project(project, found, labelled, variant) for variant in VARIANTS]
    if not replays:
        todo = "Name the folder of sessions with --sessions."
        raise SettingsError(f"No project has {MIN_SESSIONS} sessions here.", where=str(folders[0]), todo=todo)
    figures = compute_figures(replays, load_judgments())
    if as_json:
        output.show_json(figures)
    else:
        for variant in VARIANTS:
            output.show_table(HEADS, channel_rows(figures, variant), title=f"{variant}: by channel")
            output.show_table(HEADS, project_rows(figures, variant), title=f"{variant}: by project")
    output.print_problems(problems)
    raise typer.Exit(3 if problems else 0)


def _measure_neighbours(folder: Path, part: LabelSet, as_json: bool) -> NoReturn:
    """Searches the neighbours of each labelled claim, and prints how often the claim's memory is among them."""
    from lerim_evals.neighbour_recall import SHOWN_COUNT, measure_neighbours, neighbour_rows

    held = {"open": (False,), "held": (True,), "all": (False, True)}[part]
    with tempfile.TemporaryDirectory() as temporary:
        found = measure_neighbours(folder, Path(temporary).resolve(), held)
    if as_json:
        output.show_json(found)
        raise typer.Exit(0)
    heads = ("wording", "related pairs", f"shown, of {found.memories:,}", "without others' tellings", "no-ops", "wrong")
    output.show_table(heads, neighbour_rows(found))
    if part == "open":
        missed = ((one.what, str(one.place), one.memory, one.title) for one in found.pairs if one.related)
        output.show_table(
            ("it is", "place", "memory", "said later"), (row for row in missed if not 0 < int(row[1]) <= SHOWN_COUNT)
        )
    raise typer.Exit(0)


def _measure_search(questions: Path, sessions: Path, figures_file: Path | None, as_json: bool) -> NoReturn:
    """Indexes the sessions into a temporary catalog, searches each question, and prints the ranks of the answers."""
    if figures_file is not None:
        raise SettingsError(
            "Figures of search are not kept.",
            where="--questions",
            todo="Leave out --out and --against; --json prints.",
        )
    from lerim.sessions.catalog.catalog import Catalog
    from lerim_evals.search_recall import index_stores, read_questions, recall_rows, search_questions

    question_file = read_questions(questions)
    with tempfile.TemporaryDirectory() as folder, Catalog.open(Home(Path(folder) / "home")) as catalog:
        problems = index_stores(catalog, sessions, question_file.stores)
        found, absent = search_questions(catalog, question_file.questions)
    if not found.answers:
        raise SettingsError(
            "None of the sessions asked about is there.", where=str(sessions), todo="Name their folder with --sessions."
        )
    if as_json:
        output.show_json(found)
    else:
        output.show_table(("", "questions", "first", "of 5", "of 10", "1 / rank"), recall_rows(found))
        late = [one for one in found.answers if not 0 < one.rank <= 5]
        output.show_table(
            ("not among the first 5", "agent", "place"),
            ((one.question, one.platform, str(one.rank) if one.rank else "none") for one in late),
        )
    output.print_problems([*problems, *absent])
    raise typer.Exit(3 if problems or absent else 0)
