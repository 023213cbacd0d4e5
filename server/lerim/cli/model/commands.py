"""`lerim model list|test|use|try|allow`."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    find_home,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.config import EXTRACT_TABLE, PROVIDERS, ROLES, SETTING_CHECKS, editor, load, write_model_choice
from lerim.errors import Problem, SettingsError
from lerim.models import (
    AGENTS,
    Model,
    ModelsView,
    RoleView,
    choose_model,
    consent,
    describe_payment,
    find_extraction_model,
    list_models,
    make_role_view,
)

model_app = typer.Typer(help="Choose and test the language model that reads sessions.", no_args_is_help=True)


class ModelUseOutput(msgspec.Struct, frozen=True):
    """What `model use --json` prints: the file that was written, and the model that is now in force."""

    path: str
    role: RoleView
    problems: list[Problem]


class ModelAllowOutput(msgspec.Struct, frozen=True):
    """What `model allow --json` prints: the labels of the models that this command allowed."""

    allowed: list[str]


@model_app.command("list")
@with_error_exit
def list_command(as_json: JsonOption = False) -> None:
    """List the keys that are set, the model servers running on this machine, and which model is chosen and why."""
    view = list_models(find_home(), os.environ, datetime.now().astimezone())
    if as_json:
        output.show_json(view)
        return
    _show_models(view)


@model_app.command("test")
@with_error_exit
def test_command(
    yes: Annotated[bool, typer.Option("--yes", help="Call the model this once, even if it costs money.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Send the chosen model a small test question; show the answer, the time and the cost."""
    home = find_home()
    settings, problems = load.load_settings(os.environ, home)
    output.print_problems(problems)
    model = find_extraction_model(settings, os.environ)
    if not (yes or consent.load_known_models(home)[0].allows(model) or _confirm_paid_test(model, ask=not as_json)):
        return
    from lerim.models import probe_model

    trial = probe_model(settings, model, os.environ, lambda: False)
    if as_json:
        output.show_json(trial)
        return
    usage = trial.usage
    output.print_line(
        f"{output.escape_controls(trial.model)} answered: {output.escape_controls(trial.answer) or '(nothing)'}"
    )
    cost = "cost unknown" if usage.unpriced else f"${usage.cost:.6f}" if model.billed else "no charge for each call"
    output.print_line(f"{usage.input_tokens} tokens in, {usage.output_tokens} out, {usage.seconds:.1f} s, {cost}")
    for step in trial.steps:
        output.print_line(f"{step.kind}: {output.escape_controls(step.why)}")
    output.print_problems(trial.problems)


@model_app.command("use")
@with_error_exit
def use_command(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help=f"{', '.join(('none', 'auto', *PROVIDERS))}.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name, as the provider writes it.")] = "",
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="The provider's address, if it is not the usual one.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Choose the model that reads sessions. Changes only that setting in ~/.lerim/config.toml."""
    home = find_home()
    choice = {"provider": provider, "model": model, "base_url": base_url}
    for name, value in choice.items():
        try:
            SETTING_CHECKS[f"{EXTRACT_TABLE}.{name}"](value)
        except ValueError as error:
            expected = str(error).replace(", in quotes", "")  # as in the file
            hint = "--base-url" if name == "base_url" else name.upper()
            raise typer.BadParameter(f"{expected}.", param_hint=hint) from error
    write_model_choice(home, provider, model, base_url)
    settings, problems = load.load_settings(os.environ, home)
    role = make_role_view("extract", settings, os.environ, consent.load_known_models(home)[0])
    if as_json:
        output.show_json(ModelUseOutput(str(home.config), role, problems))
        return
    output.print_line(f"Written to {home.config}.")
    if role.origin != str(home.config):
        output.print_note(f"warning: {role.origin} overrides it: provider {role.provider}.")
    output.print_line(_describe_role(role))
    output.print_problems([*problems, *role.problems])
    if role.model:
        output.print_line("Try it with `lerim model test`.")


@model_app.command("try")
@with_error_exit
def try_command(
    provider: Annotated[
        str, typer.Argument(metavar="PROVIDER", help="As for `lerim model use`. The default is the chosen provider.")
    ] = "",
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name, as the provider writes it.")] = "",
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="The provider's address, if it is not the usual one.")
    ] = "",
    repo: RepoOption = CURRENT_FOLDER,
    yes: Annotated[bool, typer.Option("--yes", help="Call the model this once, even if it costs money.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let a model read one of this repository's sessions, and compare what Lerim finds with and without it."""
    from lerim.cli.model.offer import show_trial, try_model

    if provider and provider not in PROVIDERS:
        raise typer.BadParameter(f"There is no provider {provider!r}.", param_hint="PROVIDER")
    context = open_command_context(repo)
    if not provider:
        find_extraction_model(context.settings, os.environ)  # reports what is missing before anything is printed
    trial = try_model(context, provider, model, base_url, paid=yes, quiet=as_json)
    if as_json:
        output.show_json(trial)
    else:
        show_trial(trial)


@model_app.command("allow")
@with_error_exit
def allow_command(as_json: JsonOption = False) -> None:
    """Approve the cost of the chosen models, within the daily budget. You are asked once for each model."""
    home = find_home()
    settings, problems = load.load_settings(os.environ, home)
    output.print_problems(problems)
    known = consent.load_known_models(home)[0]
    chosen = [find_extraction_model(settings, os.environ)]
    editor_state = editor.read_editor_state(os.environ)[0]
    for name in ROLES[1:]:
        if settings.values[f"roles.{name}.provider"] and (
            role_model := choose_model(name, settings, os.environ, editor_state)[0]
        ):
            chosen.append(role_model)
    labels = list(dict.fromkeys(model.label for model in chosen if not known.allows(model)))
    for label in labels:
        consent.allow_model(home, label)
    if as_json:
        output.show_json(ModelAllowOutput(labels))
        return
    budget = (
        f"at most ${settings.daily_budget_usd:g} a day"
        if settings.daily_budget_usd
        else "no limit: budget.per_day_usd is 0"
    )
    for label in labels:
        output.print_line(f"Approved: {output.escape_controls(label)}, {budget}.")
    if not labels:
        output.print_line(f"Nothing needs your approval; the model is {output.escape_controls(chosen[0].label)}.")


def _confirm_paid_test(model: Model, *, ask: bool) -> bool:
    """Asks the person whether to send a test question that costs money. Raises SettingsError if there is no terminal to
    ask on."""
    if not (ask and output.can_ask()):
        todo = "Use `lerim model test --yes` for this once, or `lerim model allow` to approve it for good."
        raise SettingsError(f"{model.label} costs money, and you have not approved it.", where=EXTRACT_TABLE, todo=todo)
    return output.ask_consent(f"{model.label} costs money; this test costs very little. Continue?")


def _describe_role(role: RoleView) -> str:
    if not role.model:
        return f"{role.role}: no model is used{f', {role.why}' if role.why else ''}"
    payment = "each call costs money" if role.billed else "no charge for each call"
    if role.provider in AGENTS:
        payment = describe_payment(role.provider, os.environ)
    consent_hint = "" if role.allowed else "; the first sync asks for your approval (or use `lerim model allow`)"
    limit = f"; it accepts {role.limit:,} tokens" if role.limit else ""
    return output.escape_controls(f"{role.role}: {role.model}, because {role.why}; {payment}{consent_hint}{limit}")


def _show_models(view: ModelsView) -> None:
    for role in view.roles:
        output.print_line(_describe_role(role))
    if view.spent_today is None:
        limit = f"the limit is ${view.budget:g} a day" if view.budget else "there is no limit"
        output.print_line(f"The amount spent today is not known; {limit}.")
    else:
        limit = f" of ${view.budget:g} a day" if view.budget else "; there is no limit"
        output.print_line(f"${view.spent_today:.4f} spent today{limit}.")
    output.show_table(
        ("provider", "usual model", "key"),
        (
            (one.name, one.model, "set" if one.key else f"not set: {' or '.join(one.key_variables)}")
            for one in view.providers
        ),
    )
    for server in view.servers:
        models = ", ".join(server.models[:20]) or "no models"
        output.print_line(output.escape_controls(f"{server.name or 'A server'} answers at {server.base_url}: {models}"))
    for agent in view.agents:
        if agent.program:
            output.print_line(
                output.escape_controls(
                    f"{agent.name} found at {agent.program}, {agent.price}: `lerim model use {agent.provider}`"
                )
            )
        else:
            output.print_line(f"{agent.name} has sessions here, but its program was not found.")
    if not view.servers:
        output.print_line("No model server was found on this machine.")
    for one in view.editor:
        may = {True: "allowed", False: "not allowed", None: "not asked yet"}[one.allowed]
        output.print_line(output.escape_controls(f"The editor offers {one.id} ({may})"))
    output.print_problems([*view.problems, *(problem for role in view.roles for problem in role.problems)])
