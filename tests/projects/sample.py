"""The sample of examples/ as `make run` copies it, below a test's own folder."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from lerim.jobs import sync
from lerim.jobs.report import SyncReport
from lerim.paths import Home
from lerim.review.review_paths import ReviewPaths
from proposals import review_paths

CLONE = Path(__file__).resolve().parents[2]
EXAMPLES = CLONE / "examples"


def load_script(name: str) -> ModuleType:
    """scripts/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_script", CLONE / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Sample:
    folder: Path
    repo: Path
    environ: dict[str, str]

    @property
    def place(self) -> ReviewPaths:
        return review_paths(self.repo, Home.from_environ(self.environ))

    @property
    def sessions(self) -> Path:
        [folder] = (self.folder / "claude" / "projects").iterdir()
        return folder

    def sync(self) -> SyncReport:
        place = self.place
        return sync.sync_project(
            place.project, place.home, self.environ, sync.SyncOptions(), lambda _event: None, lambda: False
        )


def make_sample(folder: Path) -> Sample:
    """The sample's repository and sessions below `folder`."""
    run = load_script("run")
    repo = run.copy_sample(folder, EXAMPLES)
    return Sample(folder, repo, {**os.environ, **run.sample_environment(folder)})
