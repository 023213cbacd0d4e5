"""What the documents say of values and settings is what the code has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from lerim.config.narrowing import SETTING_WIDTHS
from lerim.config.providers import PROVIDERS, ROLES
from lerim.extraction.signals.draft import Signal
from lerim.jobs.agent_states import AgentView, LastErrorView, SkippedView, StoreView
from lerim.jobs.report import DroppedView, SessionCounts, SyncReport
from lerim.memory.record import LearningKind, Primitive
from lerim.models.agents.programs import AGENTS, DEFAULT_MODEL
from lerim.models.available import RoleView
from lerim.models.money.usage import ModelStep, RoleUsage, Usage, WaitingWork, WaitReason
from lerim.models.state import ModelView
from lerim.sessions.queue.job_rows import JobRow
from lerim.statistics.figures import Figures
from lerim.views import SessionView, StatusOutput, TurnOutput

CLONE = Path(__file__).resolve().parents[2]
DOCS = CLONE / "docs"
PROTOCOL = (DOCS / "PROTOCOL.md").read_text(encoding="utf-8")
USING = (DOCS / "USING.md").read_text(encoding="utf-8")
MODELS = (DOCS / "MODELS.md").read_text(encoding="utf-8")
PAGES = (CLONE / "README.md", CLONE / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
CANDIDATE = PROTOCOL.split("- `Candidate`:")[1].split("\n- `")[0]


@pytest.mark.parametrize(
    ("field", "values"),
    [("primitive", Primitive), ("kind", LearningKind), ("signal", Signal)],
    ids=["primitive", "kind", "signal"],
)
def test_the_values_of_a_candidate_are_listed(field: str, values: Any) -> None:
    [listed] = re.findall(rf"`{field}` \(([^)]*)\)", CANDIDATE)
    assert set(re.findall(r"`([a-z-]+)`", listed)) == set(get_args(values))


LISTED: dict[str, tuple[Any, ...]] = {
    "Agent": (AgentView, StoreView, SkippedView, LastErrorView),
    "Job": (JobRow,),
    "Figures": (Figures,),
    "ModelRole": (RoleView,),
    "SyncReport": (SyncReport, SessionCounts, DroppedView, Usage, RoleUsage, ModelStep, WaitingWork),
    "ModelState": (ModelView,),
}


@pytest.mark.parametrize("name", LISTED)
def test_every_field_of_what_is_listed_is_told(name: str) -> None:
    listed = PROTOCOL.split(f"- `{name}`:")[1].split("\n- `")[0]
    for struct in LISTED[name]:
        assert set(struct.__struct_fields__) <= set(re.findall(r"[a-z_]+", listed))


def test_every_field_of_the_status_is_told() -> None:
    [told] = re.findall(r"^\| `lerim status` \| `\{(.*)\}` \|$", PROTOCOL, re.MULTILINE)
    names = re.sub(r"\{[^}]*\}|: [A-Z]\w+|\[\]|:", "", told).replace(" ", "").split(",")
    assert names == list(StatusOutput.__struct_fields__)


def test_why_a_model_is_not_asked_is_told() -> None:
    listed = PROTOCOL.split("- `ModelState`:")[1].split("\n- `")[0]
    assert {why for why in get_args(WaitReason) if why} <= set(re.findall(r"`([a-z]+)`", listed.split("`why`")[1]))


@pytest.mark.parametrize(("name", "struct"), [("Session", SessionView), ("Turn", TurnOutput)])
def test_every_field_of_a_session_and_a_turn_is_listed(name: str, struct: Any) -> None:
    listed = PROTOCOL.split(f"- `{name}`:")[1].split("\n- `")[0]
    assert set(struct.__struct_fields__) == set(re.findall(r"`([a-z_]+)(?:\[\])?(?: \{[^}]*\})?`", listed)) - {
        *("user", "assistant", "prompt", "shell", "command", "reply")
    }


def test_the_settings_are_shown_with_their_defaults() -> None:
    block = re.findall(r"```toml\n(.*?)```", USING.split("\n## Settings")[1], re.DOTALL)[0]
    defaults = tomllib.loads((CLONE / "server" / "lerim" / "config" / "default.toml").read_text(encoding="utf-8"))
    for section, values in tomllib.loads(block).items():
        for name, value in values.items():
            shown = {name: value} if not isinstance(value, dict) else value
            known = defaults[section] if not isinstance(value, dict) else defaults[section][name]
            assert shown.items() <= known.items()


def test_what_a_repository_may_set_is_what_it_may_set() -> None:
    [said] = re.findall(r"may only narrow what yours allow: (.*?), and nothing\s+else", USING, re.DOTALL)
    names = re.findall(r"`([a-z_.*]+)`", said)
    told = {name.replace("*", role) for name in names for role in (ROLES if "*" in name else ("",))}
    assert told == set(SETTING_WIDTHS)


def test_the_providers_are_told_with_their_keys_and_usual_models() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| (.*) \| (.*) ?\|$", MODELS, re.MULTILINE)
    told = {name: (re.findall(r"`(\w+)`", keys), re.findall(r"`(\S+)`", model)) for name, keys, model in rows}
    for name, provider in PROVIDERS.items():
        agent = AGENTS.get(name)
        default = agent.model.replace(DEFAULT_MODEL, "") if agent else provider.default_model
        usual = [default] if default else []
        assert told[name] == (list(provider.key_variables), usual)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_in_the_documents_leads_to_a_file_and_a_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if "://" in link or link.startswith("data:"):
            continue
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not heading or heading in _headings(target), link


def _headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and VS Code name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}
