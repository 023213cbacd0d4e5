"""Links in memory files: ids to their memories, and paths to their files."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_path, find_memory_text, find_source_path
from lerim.lsp.features.language.targets import IdTarget, PathTarget, find_targets
from lerim.lsp.window import Sidecar

MAX_LINKS = 200


async def list_document_links(sidecar: Sidecar, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
    """The links of a memory file to memories and files that exist."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    return None if text is None else await sidecar.run_in_thread(_list_links, text)


def _list_links(text: MemoryText) -> list[types.DocumentLink]:
    return [link for link, _ in zip(_find_links(text), range(MAX_LINKS), strict=False)]


def _find_links(text: MemoryText) -> Iterator[types.DocumentLink]:
    for target in find_targets(text):
        if isinstance(target, IdTarget) and target.key != "id":
            path = find_memory_path(text, target.id)
        elif isinstance(target, PathTarget):
            path = find_source_path(text.repo, target.path)
            path = path if path is not None and path.is_file() else None
        else:
            continue
        if path is not None:
            yield types.DocumentLink(text.range(target.span), path_to_uri(path))
