"""Changing a candidate's words in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lerim import output
from lerim.errors import LerimError
from lerim.memory.record import MemoryRecord
from lerim.review.queue import Edit

TITLE, TAGS = "Title:", "Tags:"


class EditorError(LerimError):
    """The editor could not be started, or what it left cannot be read."""

    code = "editor"


@contextmanager
def edited(before: MemoryRecord, environ: Mapping[str, str] = os.environ) -> Iterator[Edit]:
    """What the person makes of `before` in `VISUAL` or `EDITOR`. If this or what is done with it fails, their text is
    kept and they are told where. Raises EditorError; then nothing was changed."""
    editor = environ.get("VISUAL") or environ.get("EDITOR")
    if not editor:
        raise EditorError("No editor is set.", where="EDITOR", todo="Set EDITOR, or use --title, --body and --tag.")
    folder = Path(tempfile.mkdtemp(prefix="lerim-"))
    path = folder / "candidate.md"
    given = text_of(before).encode()
    keep = False
    try:
        path.write_bytes(given)
        yield of_text(_text_from(editor, path))
    except BaseException:
        keep = path.is_file() and path.read_bytes() != given
        if keep:
            output.note(f"note: what you wrote is kept in {output.visible(str(path))}")
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _text_from(editor: str, path: Path) -> str:
    """The text of a file once the person closed the editor."""
    try:
        command = [*shlex.split(editor, posix=os.name == "posix"), str(path)]
        code = subprocess.run(command, check=False).returncode
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        todo = "Correct EDITOR; it must wait until you are done (`code --wait`)."
        raise EditorError(f"The editor did not work: {error}.", where=editor, todo=todo) from error
    if code:
        raise EditorError(f"The editor ended with {code}; nothing was changed.", where=editor, todo="Try again.")
    return text


def text_of(record: MemoryRecord) -> str:
    """The file the editor opens: title, tags, an empty line, the text."""
    return f"{TITLE} {record.title}\n{TAGS} {', '.join(record.tags)}\n\n{record.body.strip()}\n"


def of_text(text: str) -> Edit:
    """What `text_of` wrote, as the person changed it. Raises EditorError where the first two lines are gone."""
    title, _, rest = text.removeprefix("\ufeff").replace("\r\n", "\n").partition("\n")
    tags, _, body = rest.partition("\n")
    if not title.startswith(TITLE) or not tags.startswith(TAGS):
        todo = f"Keep the two lines that start with “{TITLE}” and “{TAGS}”."
        raise EditorError(
            "The first two lines are not title and tags; nothing was changed.", where=title[:80], todo=todo
        )
    names = [name.strip() for name in tags.removeprefix(TAGS).split(",")]
    return Edit(title.removeprefix(TITLE).strip(), body.strip(), tuple(name for name in names if name))
