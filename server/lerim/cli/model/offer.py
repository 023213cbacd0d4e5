"""Offers the models found on this machine to a person who has not chosen one: tries a model on one session, then
saves the choice."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.cli.terminal import interruptible, output
from lerim.config import load, write_model_choice
from lerim.errors import LerimError, SettingsError, StoppedError
from lerim.jobs import SessionTrial, SyncReport, session_trial
from lerim.models import AGENTS, choose_model, consent, list_models, summarize_steps
from lerim.paths import Home
from lerim.process import format_command_line
from lerim.views import ProjectContext

MAX_PROPOSALS = 20
"""Maximum number of proposals that are shown with the model, and without it."""


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model that can be used at once: the settings that choose it, its display name and its price."""

    provider: str
    model: str
    base_url: str
    name: str
    price: str

    @property
    def arguments(self) -> str:
        """The arguments that name the model on the command line, after `lerim model use` and `try`."""
        options = ("--base-url", self.base_url) if self.base_url else ()
        return format_command_line(self.provider, *filter(None, [self.model]), *options)


def find_offers(home: Home, environ: Mapping[str, str]) -> list[ModelOffer]:
    """Returns the usable models of this machine: installed agents, model servers and providers with a key. The
    models of the editor are not included."""
    view = list_models(home, environ, datetime.now().astimezone())
    offers = [ModelOffer(agent.provider, "", "", agent.name, agent.price) for agent in view.agents if agent.program]
    for server in view.servers:
        if server.models:
            provider = "ollama" if server.name == "Ollama" else "openai"
            name = f"{server.models[0]} ({server.name or server.base_url})"
            offers.append(ModelOffer(provider, server.models[0], server.base_url, name, "on this machine"))
    price = f"each call costs money, {f'at most ${view.budget:g} a day' if view.budget else 'no limit'}"
    keyed = [one for one in view.providers if one.key]
    return [*offers, *(ModelOffer(one.name, "", "", f"{one.name} {one.model}", price) for one in keyed)]


def show_offers(offers: Sequence[ModelOffer], report: SyncReport) -> None:
    """Prints that no model was used, and how to choose one."""
    if not offers:
        output.print_line(
            f"{_describe_rules_result(report)} None was found on this machine; `lerim model list` shows what is"
            " supported, and `lerim model use none` turns this message off."
        )
        return
    output.print_line(f"{_describe_rules_result(report)} Nothing is sent until you choose one:")
    for offer in offers:
        output.print_line(output.escape_controls(f"  {offer.name}, {offer.price}: `lerim model use {offer.arguments}`"))
    trial = output.escape_controls(f"`lerim model try {offers[0].arguments}`")
    output.print_line(f"Try one on one session with {trial}, or turn this message off with `lerim model use none`.")


def ask_for_model(context: ProjectContext, offers: Sequence[ModelOffer], report: SyncReport) -> bool:
    """Asks the person to choose a model, tries it on one session, and saves it to their settings if they agree.

    Returns whether a model was chosen. Raises SettingsError if the choice cannot be written.
    """
    if not offers:
        show_offers(offers, report)
        return False
    output.print_note(f"{_describe_rules_result(report)} Nothing is sent until you choose one:")
    for number, offer in enumerate(offers, 1):
        output.print_note(output.escape_controls(f"  {number}  {offer.name}, {offer.price}"))
    answer = output.ask_question(f"Which one should read one session as a trial? [1-{len(offers)}, Enter for none] ")
    if not (answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(offers)):
        output.print_note("No model is used. To turn this question off, run `lerim model use none`.")
        return False
    offer = offers[int(answer) - 1]
    try:
        trial = try_model(context, offer.provider, offer.model, offer.base_url, paid=True, quiet=False)
    except LerimError as error:
        output.print_note(output.escape_controls(error.explanation))
        return False
    show_trial(trial)
    question = f"Let it read {output.pluralize(trial.other_waiting, 'more waiting session')}? [Y/n] "
    if output.ask_question(question).lower() not in ("", "y", "yes"):
        return False
    _save_choice(context, offer)
    return True


def _save_choice(context: ProjectContext, offer: ModelOffer) -> None:
    """Saves the chosen model, and the person's consent if it costs money."""
    write_model_choice(context.home, offer.provider, offer.model, offer.base_url)
    settings, _ = load.load_settings(os.environ, context.home, context.project.root)
    model, _ = choose_model("extract", settings, os.environ, None)
    if model is not None and model.billed:
        consent.allow_model(context.home, model.label)


def try_model(
    context: ProjectContext, provider: str, model: str, base_url: str, *, paid: bool, quiet: bool
) -> SessionTrial:
    """Lets a model read one session; Ctrl-C cancels it. Raises the errors of `session_trial.run_session_trial`."""
    if not quiet:
        name = AGENTS[provider].name if provider in AGENTS else provider or "The chosen model"
        output.print_note(f"{name} is reading one session; this may take a minute.")
    with interruptible() as cancelled:
        trial = session_trial.SessionTrialRequest(context.project, context.home, os.environ, cancelled)
        try:
            return session_trial.run_session_trial(trial, provider, model, base_url, paid=paid)
        except StoppedError as error:
            raise SettingsError("The trial was cancelled. No model was chosen.") from error


def show_trial(trial: SessionTrial) -> None:
    """Prints what was found in the session without a model and with it."""
    rows = [("without a model", draft.primitive, draft.title) for draft in trial.rules[:MAX_PROPOSALS]]
    rows += [(trial.model, draft.primitive, draft.title) for draft in trial.found[:MAX_PROPOSALS]]
    if rows:
        output.show_table(("found by", "what", "title"), rows, title=f"Session {trial.session[:8]}")
    usage = trial.usage
    usage_text = f"{usage.input_tokens} tokens in, {usage.output_tokens} out, {usage.seconds:.1f} s"
    counts = f"Found without a model: {len(trial.rules)}; {trial.model} found {len(trial.found)} more ({usage_text})."
    output.print_line(output.escape_controls(f"{counts} Nothing is proposed yet."))
    for line in summarize_steps(trial.steps):
        output.print_line(output.escape_controls(line))


def _describe_rules_result(report: SyncReport) -> str:
    sessions = output.pluralize(report.waits.sessions, "session")
    candidates = output.pluralize(len(report.candidates), "candidate")
    return f"Without a model, {sessions} gave {candidates}. A model usually finds more."
