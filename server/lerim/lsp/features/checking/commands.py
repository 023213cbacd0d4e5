"""Runs the commands of code actions for editors without Lerim's extension, as `workspace/executeCommand`."""

from __future__ import annotations

from lsprotocol import types

from lerim.errors import NotFoundError
from lerim.lsp.features.language import find_memory_text
from lerim.lsp.features.memories import acts
from lerim.lsp.protocol import (
    ARCHIVE_MEMORY,
    GLOBALIZE_MEMORY,
    MERGE_MEMORY,
    MOVE_MEMORY,
    VERIFY_MEMORY,
    ActName,
    MemoryActParams,
    MemoryActView,
    MergeParams,
)
from lerim.lsp.window import Sidecar

ACTIONS: dict[str, ActName] = {
    VERIFY_MEMORY: "verify",
    ARCHIVE_MEMORY: "archive",
    GLOBALIZE_MEMORY: "globalize",
    MOVE_MEMORY: "move",
}


async def run_command(sidecar: Sidecar, params: types.ExecuteCommandParams) -> None:
    """Runs a command of a code action and shows what it did, or why it did nothing.

    Raises NotFoundError, MemoryError_, StaleError, BusyError, UntrustedError.
    """
    argument = next((one for one in params.arguments or () if isinstance(one, str)), "")
    if params.command == MERGE_MEMORY:
        result = await _merge(sidecar, argument)
    else:
        result = await acts.act_on_memory(sidecar, MemoryActParams(argument, ACTIONS[params.command]))
    level = types.MessageType.Info if result.ok else types.MessageType.Warning
    sidecar.server.window_show_message(types.ShowMessageParams(level, result.message))


async def _merge(sidecar: Sidecar, uri: str) -> MemoryActView:
    text = await find_memory_text(sidecar, uri)
    if text is None:
        raise NotFoundError("This file is not a memory.", where=uri[:200])
    root = text.repo.uris[0] if text.repo is not None else ""
    view = await acts.merge_memory(sidecar, MergeParams(root, str(text.path), preview=False))
    assert view.acted is not None
    return view.acted
