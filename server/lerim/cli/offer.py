"""The models of this machine, offered to a person who never chose one: one is tried on a session, then used or not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.cli.terminal import CommandContext, output
from lerim.config import load, write_model_choice
from lerim.errors import LerimError, SettingsError, StoppedError
from lerim.jobs import SessionTrial, SyncReport, session_trial
from lerim.models import AGENTS, choose_model, consent, list_models, summarize_steps
from lerim.paths import Home

SHOWN = 20
"""Proposals of either side that are shown."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that can be used at once: what the settings then say, how it is called, and what it costs."""

    provider: str
    model: str
    base_url: str
    name: str
    price: str


def offers(home: Home, environ: Mapping[str, str]) -> list[Offer]:
    """The models of this machine: installed agents, servers, keys that are set. The editor offers its own."""
    return list(_offers(home, environ))


def _offers(home: Home, environ: Mapping[str, str]) -> Iterator[Offer]:
    view = list_models(home, environ, datetime.now().astimezone())
    for agent in view.agents:
        if agent.program:
            yield Offer(agent.provider, "", "", agent.name, agent.price)
    for server in view.servers:
        if server.models:
            provider = "ollama" if server.name == "Ollama" else "openai"
            name = f"{server.models[0]} ({server.name or server.base_url})"
            yield Offer(provider, server.models[0], server.base_url, name, "on this machine")
    bound = f"${view.budget:g} a day at most" if view.budget else "no limit"
    for service in view.providers:
        if service.key:
            yield Offer(service.name, "", "", f"{service.name} {service.model}", f"paid by the token, {bound}")


def show_offers(found: Sequence[Offer], report: SyncReport) -> None:
    """Says that no model was asked, and how one is chosen."""
    output.print_line(_without(report))
    for one in found:
        name = f" {one.model}" if one.model else ""
        url = f" --base-url {one.base_url}" if one.base_url else ""
        output.print_line(
            output.escape_controls(f"  {one.name}, {one.price}: `lerim model use {one.provider}{name}{url}`")
        )
    if found:
        output.print_line(
            f"Try one on one session with `lerim model try {found[0].provider}`, or turn this "
            f"message off with `lerim model use none`."
        )
    else:
        output.print_line("No model was found on this machine; `lerim model list` shows what is supported.")


def let_choose(at: CommandContext, found: Sequence[Offer], report: SyncReport) -> bool:
    """Lets the person at a terminal choose a model, tries it on one session, and writes it to their settings if they
    say so. False where they do not. Raises SettingsError where the choice cannot be written."""
    if not found:
        show_offers(found, report)
        return False
    output.print_note(_without(report))
    for number, one in enumerate(found, 1):
        output.print_note(output.escape_controls(f"  {number}  {one.name}, {one.price}"))
    answer = _asked(f"Which one should read one session as a trial? [1-{len(found)}, Enter for none] ")
    if not (answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(found)):
        output.print_note("No model is used. To turn this question off: `lerim model use none`.")
        return False
    offer = found[int(answer) - 1]
    try:
        trial = try_model(at, offer.provider, offer.model, offer.base_url, paid=True, quiet=False)
    except LerimError as error:
        output.print_note(output.escape_controls(error.explanation))
        return False
    show_trial(trial)
    if _asked(f"Let it read {trial.other_waiting} more waiting sessions? [Y/n] ").lower() not in ("", "y", "yes"):
        return False
    _use(at, offer)
    return True


def _use(at: CommandContext, offer: Offer) -> None:
    """Writes the choice, and that the person agrees to what it costs."""
    write_model_choice(at.home, offer.provider, offer.model, offer.base_url)
    settings, _ = load.load_settings(os.environ, at.home, at.project.root)
    model, _ = choose_model("extract", settings, os.environ, None)
    if model is not None and model.billed:
        consent.allow_model(at.home, model.label)


def try_model(at: CommandContext, provider: str, model: str, base_url: str, *, paid: bool, quiet: bool) -> SessionTrial:
    """What a model finds in one session; Ctrl-C ends it. Raises what `session_trial.run` does."""
    from lerim.cli.terminal import interruptible

    if not quiet:
        name = AGENTS[provider].name if provider in AGENTS else provider or "The chosen model"
        output.print_note(f"{name} is reading one session; this may take a minute.")
    with interruptible() as cancelled:
        trial = session_trial.SessionTrialRequest(at.project, at.home, os.environ, cancelled)
        try:
            return session_trial.run_session_trial(trial, provider, model, base_url, paid=paid)
        except StoppedError as error:
            raise SettingsError("The trial was cancelled. No model was chosen.") from error


def show_trial(trial: SessionTrial) -> None:
    """The proposals of both for one session."""
    rows = [("the rules", one.primitive, one.title) for one in trial.rules[:SHOWN]]
    rows += [(trial.model, one.primitive, one.title) for one in trial.found[:SHOWN]]
    if rows:
        output.show_table(("found by", "what", "title"), rows, title=f"Session {trial.session[:8]}")
    used = trial.usage
    took = f"{used.input_tokens} tokens in, {used.output_tokens} out, {used.seconds:.1f} s"
    found = f"The rules found {len(trial.rules)}, {trial.model} {len(trial.found)} more ({took})."
    output.print_line(output.escape_controls(f"{found} Nothing is proposed yet."))
    for line in summarize_steps(trial.steps):
        output.print_line(output.escape_controls(line))


def _without(report: SyncReport) -> str:
    sessions = output.pluralize(report.waits.sessions, "session")
    found = output.pluralize(len(report.candidates), "proposal")
    return f"Without a model {sessions} gave {found}. A model usually finds more. Nothing is sent until you choose one:"


def _asked(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()
