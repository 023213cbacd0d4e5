"""What checks of a repository's memory files keep between two edits, and what they found in files that are not open."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsprotocol import types

    from lerim.check import RulesFileIndex
    from lerim.memory import SourceReader


@dataclass(slots=True)
class RepoChecks:
    """`rules_files` has the statements of rules files, None until a memory is opened; `reader` has read source files.
    `lock` allows one check at a time, since both are shared.

    `open_diagnostics` are those of open documents by URI, `diagnostics` those that `Lerim: Check Memories` found.
    """

    rules_files: RulesFileIndex | None = None
    reader: SourceReader | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    open_diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
