"""`lerim model`: what there is to ask, choosing one, trying it, agreeing to pay for it."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from lerim import config, editor_settings, output
from lerim.cli_place import HERE, Json, Repo, guarded, here, home
from lerim.errors import Problem, SettingsError
from lerim.model_choice import EXTRACT, write_choice
from lerim.models import consent
from lerim.models.agents import AGENTS, price_of
from lerim.models.available import ModelsView, RoleView, available, role_view
from lerim.models.choose import choose
from lerim.models.model import Model
from lerim.models.providers import PROVIDERS, ROLES
from lerim.setting import KEYS

model_app = typer.Typer(help="The language model that reads sessions besides the rules.", no_args_is_help=True)


class UseView(msgspec.Struct, frozen=True):
    """What `model use --json` prints: the file that was written, and what holds now."""

    path: str
    role: RoleView
    problems: list[Problem]


class AllowView(msgspec.Struct, frozen=True):
    """What `model allow --json` prints: the labels that were agreed to now."""

    allowed: list[str]


@model_app.command("list")
@guarded
def list_command(as_json: Json = False) -> None:
    """Show which keys are set, which servers of this machine answer, and which model is chosen and why."""
    view = available(home(), os.environ, datetime.now().astimezone())
    if as_json:
        output.show_json(view)
        return
    _show(view)


@model_app.command("test")
@guarded
def test_command(
    yes: Annotated[bool, typer.Option("--yes", help="Ask it though it is paid for; agrees to nothing else.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the chosen model one tiny question, and say what came back and what it took."""
    mine = home()
    settings, problems = config.load(os.environ, mine)
    output.warn(problems)
    model = _chosen(settings)
    if not (yes or consent.load(mine)[0].allows(model) or _agreed(model, ask=not as_json)):
        return
    from lerim.models.engine import Engine
    from lerim.models.spending import Purse
    from lerim.models.trial import MOST, tried

    purse = Purse(mine, settings.budget, lambda: datetime.now().astimezone())
    trial = tried(model, Engine(model, lambda: False, home=mine, environ=os.environ, purse=purse, most=MOST))
    output.warn(purse.problems)
    if as_json:
        output.show_json(trial)
        return
    used = trial.usage
    output.say(f"{output.visible(trial.model)} answered: {output.visible(trial.answer) or '(nothing)'}")
    cost = "cost not known" if used.unpriced else f"${used.cost:.6f}" if model.billed else "not paid by the token"
    output.say(f"{used.input_tokens} tokens in, {used.output_tokens} out, {used.seconds:.1f} s, {cost}")
    for step in trial.steps:
        output.say(f"{step.kind}: {output.visible(step.why)}")


@model_app.command("use")
@guarded
def use_command(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help=f"{', '.join(('none', 'auto', *PROVIDERS))}.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Its name as the provider writes it.")] = "",
    base_url: Annotated[str, typer.Option("--base-url", metavar="URL", help="Where it is, if not the usual.")] = "",
    as_json: Json = False,
) -> None:
    """Choose the model that reads sessions: written to ~/.lerim/config.toml, the rest of which stays as it is."""
    mine = home()
    given = {"provider": provider, "model": model, "base_url": base_url}
    for name, value in given.items():
        try:
            KEYS[f"{EXTRACT}.{name}"].check(value)
        except ValueError as error:
            raise typer.BadParameter(f"{error}.", param_hint=name.upper()) from error
    write_choice(mine, provider, model, base_url)
    settings, problems = config.load(os.environ, mine)
    role = role_view("extract", settings, os.environ, consent.load(mine)[0])
    if as_json:
        output.show_json(UseView(str(mine.config), role, problems))
        return
    output.say(f"Written to {mine.config}.")
    if role.origin != str(mine.config):
        output.note(f"warning: {role.origin} says otherwise, and counts: provider {role.provider}.")
    output.say(_told(role))
    output.warn([*problems, *role.problems])
    if role.model:
        output.say("`lerim model test` asks it one tiny question.")


@model_app.command("try")
@guarded
def try_command(
    provider: Annotated[str, typer.Argument(metavar="[PROVIDER]", help="As for `use`; else the chosen one.")] = "",
    model: Annotated[str, typer.Argument(metavar="[MODEL]", help="Its name as the provider writes it.")] = "",
    base_url: Annotated[str, typer.Option("--base-url", metavar="URL", help="Where it is, if not the usual.")] = "",
    repo: Repo = HERE,
    yes: Annotated[bool, typer.Option("--yes", help="Ask it though it is paid for; agrees to nothing else.")] = False,
    as_json: Json = False,
) -> None:
    """Let a model read one session of this repository, and show what it finds beside what the rules find."""
    from lerim.cli_offer import show_trial, try_model

    if provider and provider not in PROVIDERS:
        raise typer.BadParameter(f"There is no provider {provider!r}.", param_hint="PROVIDER")
    trial = try_model(here(repo, []), provider, model, base_url, paid=yes, quiet=as_json)
    if as_json:
        output.show_json(trial)
    else:
        show_trial(trial)


@model_app.command("allow")
@guarded
def allow_command(as_json: Json = False) -> None:
    """Agree that the chosen models are paid for, each once and for good; the day's budget bounds them."""
    mine = home()
    settings, problems = config.load(os.environ, mine)
    output.warn(problems)
    known = consent.load(mine)[0]
    chosen = [_chosen(settings)]
    told = editor_settings.told(os.environ)[0]
    for name in ROLES[1:]:
        if settings.values[f"roles.{name}.provider"] and (own := choose(name, settings, os.environ, told)[0]):
            chosen.append(own)
    labels = list(dict.fromkeys(model.label for model in chosen if not known.allows(model)))
    for label in labels:
        consent.allow(mine, label)
    if as_json:
        output.show_json(AllowView(labels))
        return
    budget = f"${settings.budget:g} a day at most" if settings.budget else "no limit: budget.per_day_usd is 0"
    for label in labels:
        output.say(f"{output.visible(label)} may be asked, {budget}.")
    if not labels:
        output.say(f"Nothing to agree to: {output.visible(chosen[0].label)} may be asked.")


def _chosen(settings: config.Settings) -> Model:
    """The model of the role `extract`. Raises SettingsError where there is none, with what is in its way."""
    model, problems = choose("extract", settings, os.environ, editor_settings.told(os.environ)[0])
    if model is None:
        told = problems[0].message if problems else "No model is chosen, or none was found."
        where = problems[0].path if problems else EXTRACT
        raise SettingsError(told, where=where, todo="See `lerim model list`, and choose with `lerim model use`.")
    return model


def _agreed(model: Model, *, ask: bool) -> bool:
    """Whether the person, at a terminal, agrees to one question that costs something. Raises SettingsError where nobody
    can be asked."""
    if not (ask and sys.stdin.isatty() and sys.stderr.isatty()):
        todo = "`lerim model test --yes` asks it this once, `lerim model allow` agrees for good."
        raise SettingsError(f"{model.label} is paid for, and you have not agreed to it.", where=EXTRACT, todo=todo)
    sys.stderr.write(f"{output.visible(model.label)} is paid for, so that this costs a little. Ask it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _told(role: RoleView) -> str:
    if not role.model:
        return f"{role.role}: no model is asked{f', {role.why}' if role.why else ''}"
    paid = "paid by the token" if role.billed else "not paid by the token"
    if role.provider in AGENTS:
        paid = price_of(role.provider, os.environ)
    asks = "" if role.allowed else "; the first paid sync asks (`lerim model allow` agrees)"
    limit = f"; it takes {role.limit:,} tokens" if role.limit else ""
    return output.visible(f"{role.role}: {role.model}, because {role.why}; {paid}{asks}{limit}")


def _show(view: ModelsView) -> None:
    for role in view.roles:
        output.say(_told(role))
    spent = (
        "What was spent today is not known" if view.spent_today is None else f"${view.spent_today:.4f} were spent today"
    )
    output.say(f"{spent} of ${view.budget:g} a day." if view.budget else f"{spent}; there is no limit.")
    output.show_table(
        ("provider", "usual model", "key"),
        (
            (one.name, one.model, "set" if one.key else f"not set: {' or '.join(one.key_variables)}")
            for one in view.providers
        ),
    )
    for server in view.servers:
        models = ", ".join(server.models[:20]) or "no models"
        output.say(output.visible(f"{server.name or 'A server'} answers at {server.base_url}: {models}"))
    for agent in view.agents:
        if agent.program:
            output.say(output.visible(f"{agent.name} is at {agent.program}, {agent.price}: {_use(agent.provider)}"))
        else:
            output.say(f"{agent.name} has left sessions, but its program was not found.")
    if not view.servers:
        output.say("No model server was found on this machine.")
    for one in view.editor:
        may = {True: "allowed", False: "not allowed", None: "not asked yet"}[one.allowed]
        output.say(output.visible(f"The editor offers {one.id} ({may})"))
    output.warn([*view.problems, *(problem for role in view.roles for problem in role.problems)])


def _use(provider: str) -> str:
    return f"`lerim model use {provider}`"


@model_app.callback()
def _group() -> None:
    """The language model that reads sessions besides the rules."""
