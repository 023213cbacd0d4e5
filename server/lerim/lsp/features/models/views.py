"""The status of the chosen model, and the person's consent to pay for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from lerim.config import load
from lerim.lsp.protocol import AllowParams, OutcomeView, RootParams
from lerim.lsp.window import editor_models
from lerim.models import ModelView, consent, load_model_view
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar


async def model_status(sidecar: Sidecar, params: RootParams) -> ModelView:
    """The model of a root, the sessions that wait for it and today's cost. No server is asked."""
    sidecar.require_trust("Asking a model")
    repo = await sidecar.find_repo(params.root)
    environ, now = editor_models.make_job_environ(sidecar), sidecar.clock().astimezone()
    return await sidecar.run_in_thread(_load_view, repo.project, sidecar.home, environ, now)


async def allow_model(sidecar: Sidecar, params: AllowParams) -> OutcomeView:
    """Stores the person's permanent consent to a paid model. Raises SettingsError if it cannot be stored."""
    sidecar.require_trust("Asking a model")
    await sidecar.run_in_thread(consent.allow_model, sidecar.home, params.label)
    return OutcomeView(True, f"You approved the cost of {params.label}.")


def _load_view(project: Project, home: Home, environ: Mapping[str, str], now: datetime) -> ModelView:
    settings, _ = load.load_settings(environ, home, project.root)  # each sync reports problems of the files
    return load_model_view(project.key, settings, home, environ, now)
