"""The sample of examples/ as `make run` copies it, below a test's own folder."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from lerim import jobs, project
from lerim.paths import Home
from lerim.report import SyncReport
from lerim.review.place import Place

CLONE = Path(__file__).resolve().parents[1]
EXAMPLES = CLONE / "examples"


def load_run() -> ModuleType:
    """scripts/run.py as a module."""
    spec = importlib.util.spec_from_file_location("run_script", CLONE / "scripts" / "run.py")
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
    def place(self) -> Place:
        home = Home.of(self.environ)
        found = project.locate(self.repo, home)
        assert found
        return Place(found, home)

    @property
    def sessions(self) -> Path:
        [folder] = (self.folder / "claude" / "projects").iterdir()
        return folder

    def sync(self) -> SyncReport:
        place = self.place
        return jobs.run(place.project, place.home, self.environ, jobs.SyncOptions(), lambda _event: None, lambda: False)


def make_sample(folder: Path) -> Sample:
    """The sample's repository and sessions below `folder`."""
    run = load_run()
    repo = run.copy_sample(folder, EXAMPLES)
    return Sample(folder, repo, {**os.environ, **run.environment(folder)})
