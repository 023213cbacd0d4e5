"""What the editor shows of the model and asks the person: how it stands, and that it may be paid for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from lerim.config import load
from lerim.lsp.protocol import AllowParams, DoneView, RootParams
from lerim.lsp.window import editor_models
from lerim.models import ModelView, consent, load_model_view
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar


async def model_status(sidecar: Sidecar, params: RootParams) -> ModelView:
    """The model of a root, what waits for it and what today cost; nothing is asked of a server for it."""
    sidecar.require_trust("Asking a model")
    repo = await sidecar.find_repo(params.root)
    environ, now = editor_models.make_job_environ(sidecar), sidecar.clock().astimezone()
    return await sidecar.run_in_thread(_load_view, repo.project, sidecar.home, environ, now)


async def allow_model(sidecar: Sidecar, params: AllowParams) -> DoneView:
    """The person agrees for good to a model that is paid for. Raises SettingsError where that cannot be kept."""
    sidecar.require_trust("Asking a model")
    await sidecar.run_in_thread(consent.allow_model, sidecar.home, params.label)
    return DoneView(True, f"You agreed to pay for {params.label}.")


def _load_view(project: Project, home: Home, environ: Mapping[str, str], now: datetime) -> ModelView:
    settings, _ = load.load_settings(environ, home, project.root)  # what is wrong with the files is said by each sync
    return load_model_view(project.key, settings, home, environ, now)
