"""Edits a candidate in the person's own editor."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lerim.cli.terminal import output
from lerim.errors import LerimError
from lerim.memory import MemoryRecord
from lerim.review import CandidateEdit

TITLE, TAGS = "Title:", "Tags:"


class TextEditorError(LerimError):
    """The editor could not be started, or the edited text cannot be read."""

    code = "editor"


@contextmanager
def edit_in_editor(record: MemoryRecord, environ: Mapping[str, str] = os.environ) -> Iterator[CandidateEdit]:
    """Opens a record in `VISUAL` or `EDITOR` and yields the edit.

    If reading or applying the edit fails, the edited text is kept in a temporary file, whose path is printed. Raises
    TextEditorError, with nothing changed.
    """
    editor = environ.get("VISUAL") or environ.get("EDITOR") or ""
    if not editor.strip():
        raise TextEditorError("No editor is set.", where="EDITOR", todo="Set EDITOR, or use --title, --body and --tag.")
    folder = Path(tempfile.mkdtemp(prefix="lerim-"))
    path = folder / "candidate.md"
    original_text = make_editor_text(record).encode()
    keep_file = False
    try:
        path.write_bytes(original_text)
        yield parse_editor_text(_read_edited_text(editor, path))
    except BaseException:
        keep_file = path.is_file() and path.read_bytes() != original_text
        if keep_file:
            output.print_note(f"note: what you wrote was saved in {output.escape_controls(str(path))}")
        raise
    finally:
        if not keep_file:
            shutil.rmtree(folder, ignore_errors=True)


def _read_edited_text(editor: str, path: Path) -> str:
    """Opens a file in the editor and returns its text after the person has closed the editor."""
    try:
        program, *arguments = split_editor_command(editor, sys.platform)
        program = shutil.which(program) or program  # on Windows `code` is `code.cmd`
        exit_code = subprocess.run([program, *arguments, str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        todo = "Check EDITOR. It must wait until you close the file (`code --wait`)."
        raise TextEditorError(f"The editor could not be started: {error}.", where=editor, todo=todo) from error
    if exit_code:
        raise TextEditorError(
            f"The editor exited with code {exit_code}; nothing was changed.", where=editor, todo="Try again."
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        todo = "Save the file as UTF-8."
        raise TextEditorError(f"What you wrote cannot be read: {error}.", where=str(path), todo=todo) from error


def split_editor_command(text: str, platform: str) -> list[str]:
    """Returns the program and the arguments of `VISUAL` or `EDITOR`. On Windows (`win32`), backslashes separate folders
    and only double quotes keep spaces together. Raises ValueError for a quote without an end."""
    if platform != "win32":
        return shlex.split(text)
    if text.count('"') % 2:
        raise ValueError("No closing quotation")
    words = re.findall(r'(?:[^\s"]|"[^"]*")+', text)
    return [word.replace('"', "") for word in words]


def make_editor_text(record: MemoryRecord) -> str:
    """Returns the text that is opened in the editor: title, tags, an empty line and the body."""
    return f"{TITLE} {record.title}\n{TAGS} {', '.join(record.tags)}\n\n{record.body.strip()}\n"


def parse_editor_text(text: str) -> CandidateEdit:
    """Parses the edited text of `make_editor_text`. Raises TextEditorError if the first two lines are missing."""
    title, _, rest = text.removeprefix("\ufeff").replace("\r\n", "\n").partition("\n")
    tags, _, body = rest.partition("\n")
    if not title.startswith(TITLE) or not tags.startswith(TAGS):
        todo = f"Keep the two lines that start with “{TITLE}” and “{TAGS}”."
        raise TextEditorError(
            "The first two lines are not the title and the tags. Nothing was changed.", where=title[:80], todo=todo
        )
    names = [name.strip() for name in tags.removeprefix(TAGS).split(",")]
    return CandidateEdit(title.removeprefix(TITLE).strip(), body.strip(), tuple(name for name in names if name))
