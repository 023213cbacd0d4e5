"""What the editor shows of the model and asks the person: how it stands, and that it may be paid for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from lerim import config
from lerim.lsp import editor
from lerim.lsp.model_protocol import AllowParams
from lerim.lsp.protocol import RootParams
from lerim.lsp.session_protocol import DoneView
from lerim.models import consent
from lerim.models.state import ModelView, state
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.lsp.sidecar import Sidecar


async def status(sidecar: Sidecar, params: RootParams) -> ModelView:
    """The model of a root, what waits for it and what today cost; nothing is asked of a server for it."""
    sidecar.trust("Asking a model")
    repo = await sidecar.repo(params.root)
    environ, now = editor.environ(sidecar), sidecar.clock().astimezone()
    return await sidecar.run(_state, repo.project, sidecar.home, environ, now)


async def allow(sidecar: Sidecar, params: AllowParams) -> DoneView:
    """The person agrees for good to a model that is paid for. Raises SettingsError where that cannot be kept."""
    sidecar.trust("Asking a model")
    await sidecar.run(consent.allow, sidecar.home, params.label)
    return DoneView(True, f"{params.label} may be asked.")


def _state(project: Project, home: Home, environ: Mapping[str, str], now: datetime) -> ModelView:
    settings, _ = config.load(environ, home, project.root)  # what is wrong with the files is said by each sync
    return state(project.key, settings, home, environ, now)
