"""Where a symbol of a referenced file is defined, and which symbols a file has. Files are read within limits."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec
from lsprotocol import types

from lerim.lsp.boundary import count_units, path_to_uri, split_lines
from lerim.lsp.features.language.memory_texts import find_source_path
from lerim.lsp.protocol import SymbolParams
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import Reference, SourceReader, definitions, find_enclosing_symbol

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SymbolPlace:
    """The line, from 0, that defines a symbol, and the range of its name there."""

    uri: str
    line: int
    range: types.Range


def find_symbol_place(sidecar: Sidecar, repo: Repo, reference: Reference) -> SymbolPlace | None:
    """Returns where a symbol is defined (blocking); None if it is not found, or may be one of several."""
    path = find_source_path(repo, reference.path)
    source = read_source(sidecar, repo, reference.path) if path is not None else None
    if path is None or source is None:
        return None
    lines = split_lines(source)
    number = definitions.make_symbol_finder(reference.path, source, lines)(reference.symbol)
    if number is None or number >= len(lines):
        return None
    line = lines[number].rstrip("\r\n")
    name = reference.symbol.rpartition(".")[2]
    start, end = next((one.span() for one in _WORD.finditer(line) if one.group() == name), (0, 0))
    encoding = sidecar.server.documents.encoding_name
    columns = (count_units(line[:start], encoding), count_units(line[:end], encoding))
    place = types.Range(types.Position(number, columns[0]), types.Position(number, columns[1]))
    return SymbolPlace(path_to_uri(path), number, place)


class SymbolView(msgspec.Struct, frozen=True):
    """A symbol by its qualified name; "" for none."""

    symbol: str


async def find_symbol_around(sidecar: Sidecar, params: SymbolParams) -> SymbolView:
    """Returns the symbol that contains the lines of an open file."""
    document = sidecar.server.documents.find_open_document(params.uri)
    if document is None or document.oversize:
        return SymbolView("")
    found = await sidecar.run_in_thread(
        find_enclosing_symbol, document.path, document.source, params.first, params.last
    )
    return SymbolView(found)


def list_symbols(sidecar: Sidecar, repo: Repo, path: str) -> list[str]:
    """Returns the symbols that a file defines, with those in a class by their full name (blocking)."""
    source = read_source(sidecar, repo, path)
    outline = SourceReader(repo.project.root).outline(path, source) if source is not None else None
    return list(dict.fromkeys(outline.names)) if outline is not None else []


def read_source(sidecar: Sidecar, repo: Repo, path: str) -> str | None:
    """Returns a file's text: from the editor if it is open there, else from the disk (blocking). None if it is no
    text file of the repository."""
    document = sidecar.server.documents.find_open_document(path_to_uri(repo.project.root / path))
    if document is not None and not document.oversize:
        return document.source
    return SourceReader(repo.project.root).text(path)
