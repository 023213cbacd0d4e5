"""Memory files as a language. One sidecar answers all these tests; its editor registers features later, as VS Code."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251

from claude_lines import encoded, prompt, reply
from claude_lines import text as said
from isolation import isolate
from lerim.lsp.features.language.key_hovers import KEY_HELP
from lerim.memory import Quotes, record
from lerim.paths import Home
from proposals import review_paths
from terminal import answer as cli
from window import RECORD, Editor, opened_in_thread, write_memory

pytestmark = pytest.mark.asyncio

SESSION = "11111111-2222-3333-4444-555555555555"
OLD = "20260701-load-all"
PITFALL = "20260802-close-files"
OTHER = f"20260803-{'x' * 20}"
FILES = {
    "src/app.py": "def load(path):\n    return path\n\n\nclass Store:\n    def save(self):\n        pass\n",
    "src/net.js": "export function send(text) {\n  return text\n}\n",
    "docs/guide.md": "Start at src/app.py.\n",
    "src/deep/inner.py": "LIMIT = 1\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with memories that link to one another, and a session of an agent."""
    root = (tmp_path_factory.mktemp("language") / "repo").resolve()
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    write_memory(root, supersedes=(OLD,), related=(PITFALL,), references=("src/app.py#load", "src/deep/inner.py"))
    write_memory(
        root,
        id=PITFALL,
        primitive="learning",
        kind="pitfall",
        title="Close what <b>you</b> open",
        tags=("style", "files"),
        references=("src/app.py#Store.save", "src/gone.py", "../../etc/passwd"),
        related=(RECORD.id, "20200101-nowhere"),
        body="# Why\n\nIt leaks.\n\n## How\n\nUse `with`.",
    )
    write_memory(root, id=OTHER, title="Unrelated", references=(), evidence=())
    ended = write_memory(root, id=OLD, title="Load all at once", superseded_by=RECORD.id, references=())
    archived = root / ".lerim/memory/archived/decisions" / ended.name
    archived.parent.mkdir(parents=True)
    ended.rename(archived)
    return root


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor whose sidecar all tests of this module share."""
    home = tmp_path_factory.mktemp("language-home")
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, home)
        async with opened_in_thread(folder) as one:
            write_memory(home, id="20260804-own", title="My own habit", references=())
            one.home = home
            await one.start()
            await one.until(lambda: "workspace/textDocumentContent" in one.registered)
            yield one


def memory(editor: Editor, memory_id: str = RECORD.id, folder: str = "decisions") -> Path:
    return editor.repo / ".lerim/memory" / folder / f"{memory_id}.md"


def show(editor: Editor, path: Path, text: str | None = None) -> Document:
    """Opens a file, or gives an open one this text."""
    return Document(editor, path, text if text is not None else path.read_text(encoding="utf-8"))


class Document:
    """An open file, closed at the end of the `with` block."""

    def __init__(self, editor: Editor, path: Path, text: str) -> None:
        self.editor, self.text, self.uri = editor, text, path.as_uri()

    def __enter__(self) -> Document:
        self.editor.open("", self.text, self.uri)
        return self

    def __exit__(self, *_: object) -> None:
        item = types.TextDocumentIdentifier(self.uri)
        self.editor.client.text_document_did_close(types.DidCloseTextDocumentParams(item))

    @property
    def item(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    def at(self, text: str, shift: int = 0) -> types.Position:
        """The place where a text begins, in UTF-16 units, or `shift` characters later."""
        start = self.text.index(text) + shift
        before = self.text[:start].split("\n")
        return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)

    def part(self, place: types.Range) -> str:
        line = self.text.split("\n")[place.start.line].encode("utf-16-le")
        return line[place.start.character * 2 : place.end.character * 2].decode("utf-16-le")

    async def complete(self, text: str) -> list[types.CompletionItem]:
        params = types.CompletionParams(self.item, self.at(text, len(text)))
        found = await self.editor.client.text_document_completion_async(params)
        return list(found.items) if isinstance(found, types.CompletionList) else []

    async def labels(self, text: str) -> list[str]:
        return [item.label for item in await self.complete(text)]

    async def hints(self) -> list[tuple[str, int]]:
        everything = types.Range(types.Position(0, 0), types.Position(len(self.text), 0))
        params = types.InlayHintParams(self.item, everything)
        found = await self.editor.client.text_document_inlay_hint_async(params)
        return [(str(one.label), one.position.line) for one in found or ()]

    async def hover(self, text: str) -> str:
        position = self.at(text, 1)
        return await self.editor.hover(self.uri, position.line, position.character) or ""

    async def definition(self, text: str) -> tuple[str, int] | None:
        params = types.DefinitionParams(self.item, self.at(text, 1))
        found = await self.editor.client.text_document_definition_async(params)
        assert found is None or isinstance(found, types.Location)
        return (found.uri, found.range.start.line) if found is not None else None

    async def references(self, text: str, *, own: bool = False) -> list[tuple[str, str]]:
        params = types.ReferenceParams(types.ReferenceContext(own), self.item, self.at(text, 1))
        found = await self.editor.client.text_document_references_async(params)
        return [(Path(one.uri).name, part_of(self.editor, one)) for one in found or []]


def part_of(editor: Editor, place: types.Location) -> str:
    path = Path(place.uri.removeprefix("file://"))
    return Document(editor, path, path.read_text(encoding="utf-8")).part(place.range)


def applied(edit: types.WorkspaceEdit | None) -> dict[str, str]:
    """The texts of files after an edit, by the name that each then has."""
    texts: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for change in (edit.document_changes or []) if edit is not None else []:
        if isinstance(change, types.RenameFile):
            renamed[change.new_uri] = change.old_uri
        if not isinstance(change, types.TextDocumentEdit):
            continue
        uri = change.text_document.uri
        lines = Path(renamed.get(uri, uri).removeprefix("file://")).read_text(encoding="utf-8").splitlines(True)
        for one in sorted(change.edits, key=lambda one: one.range.start, reverse=True):
            assert isinstance(one, types.TextEdit) and one.range.start.line == one.range.end.line
            row = lines[one.range.start.line]
            lines[one.range.start.line] = (
                row[: one.range.start.character] + one.new_text + row[one.range.end.character :]
            )
        texts[Path(uri).name] = "".join(lines)
    return texts


async def test_features_are_registered_for_the_folders_of_memory_files_alone(editor: Editor) -> None:
    assert editor.server is not None and editor.server.server_info is not None
    assert editor.server.server_info.name == "lerim"
    static = editor.server.capabilities
    assert static.references_provider and static.workspace_symbol_provider and static.hover_provider
    assert static.completion_provider is None and static.definition_provider is None and static.rename_provider is None
    patterns = [one["pattern"] for one in editor.registered["textDocument/completion"]["documentSelector"]]
    assert patterns == ["**/.lerim/memory/**/*.md", "**/.lerim/review/*.md"]
    assert editor.registered["textDocument/rename"]["prepareProvider"] is True


async def test_keys_kinds_tags_ids_paths_and_symbols_are_completed(editor: Editor) -> None:
    head = "---\nid: a\ntitle: b\nki\ntags: [st\nrelated:\n  - load\nsupersedes: \nreferences:\n"
    text = f"{head}  - app\n  - src/app.py#s\n  - net\nevidence:\n  - quote: x\n    who: \n\n---\n\nkind: \n"
    with show(editor, memory(editor, PITFALL, "learnings"), text) as typed:
        keys = await typed.labels("\nki")
        assert keys[:4] == ["created", "updated", "source", "confidence"] and "kind" in keys and "title" not in keys
        assert await typed.labels("[st") == ["style"]
        assert await typed.labels("  - load") == [RECORD.id]
        assert set(await typed.labels("supersedes: ")) == {RECORD.id, OTHER}
        assert await typed.labels("  - app") == ["src/app.py"]
        assert await typed.labels("src/app.py#s") == ["src/app.py#Store", "src/app.py#Store.save"]
        assert await typed.labels("  - net") == ["src/net.js"]
        assert await typed.labels("who: ") == ["user", "assistant", "tool", "web"]
        assert await typed.labels("---\n\nkind: ") == []
        (item,) = await typed.complete("  - load")
        assert item.detail == "decision: Keep load small"
        assert isinstance(item.text_edit, types.TextEdit) and typed.part(item.text_edit.range) == "load"
    with show(editor, memory(editor, PITFALL, "learnings"), "---\nkind: \n") as typed:
        assert await typed.labels("kind: ") == ["insight", "procedure", "friction", "pitfall", "preference"]


async def test_every_key_of_a_memory_file_is_explained() -> None:
    inner = {f"evidence.{key}" for key in ("quote", "turn", "who")}
    assert set(KEY_HELP) == {*record.HEADER_KEYS, *inner}


async def test_an_empty_quote_says_where_the_quote_is_kept_and_its_hover_shows_it(editor: Editor) -> None:
    path = memory(editor)
    quotes = Quotes(review_paths(editor.repo, Home(editor.home / ".lerim")).private)
    whole = path.read_text("utf-8")
    [evidence] = RECORD.evidence
    quotes.folder.mkdir(parents=True)
    file = quotes.path_for(RECORD.id)
    file.write_text(quotes.text_with_quotes(RECORD.id, [evidence]))
    with show(editor, path, whole.replace(evidence.quote, '""')) as kept:
        path.write_text(kept.text)
        hover = await kept.hover('quote: ""')
        assert "keep load small please" in hover and f"{RECORD.id}".replace("-", r"\-") in hover
        assert await kept.hints() == [("kept on this machine", kept.text[: kept.text.index('""') + 2].count("\n"))]
        file.unlink()
        assert [label for label, _ in await kept.hints()] == ["kept on another machine"]
        assert (await kept.hover('quote: ""')).endswith("It is not on this machine.")
    path.write_text(whole)
    quotes.folder.rmdir()


async def test_a_hover_shows_a_memory_a_path_and_a_symbol_and_never_html(editor: Editor) -> None:
    with show(editor, memory(editor)) as decision, show(editor, memory(editor, PITFALL, "learnings")) as pitfall:
        linked = await decision.hover(PITFALL)
        assert linked.startswith("Active") and "It leaks" in linked and r"\<b\>you" in linked and "<b>" not in linked
        assert (await decision.hover(OLD)).startswith(f"Superseded by {RECORD.id}".replace("-", r"\-"))
        assert await decision.hover("src/app.py") == r"src\/app\.py exists. 2 memories refer to it."
        assert "line 1" in await decision.hover("load\n")
        assert "was not found" in await pitfall.hover("src/gone.py")
        assert "line 6" in await pitfall.hover("Store.save")
        assert "There is no memory" in await pitfall.hover("20200101-nowhere")
        assert (await pitfall.hover("../../etc/passwd")).startswith("The files that the memory is about")
        assert (await pitfall.hover("kind: ")).startswith("The kind of a learning: insight, procedure")
        assert "from 0 to 1" in await decision.hover("confidence") and "from 0 to 1" in await decision.hover("0.9")
        assert (await decision.hover("who: user")).startswith("Who said it")


async def test_a_definition_is_a_memory_a_file_or_the_line_of_a_symbol_and_never_outside(editor: Editor) -> None:
    root = editor.repo
    (root / "leak.txt").symlink_to("/etc/passwd")
    with show(editor, memory(editor)) as decision, show(editor, memory(editor, PITFALL, "learnings")) as pitfall:
        assert await decision.definition(PITFALL) == (memory(editor, PITFALL, "learnings").as_uri(), 0)
        archived = root / ".lerim/memory/archived/decisions" / f"{OLD}.md"
        assert await decision.definition(OLD) == (archived.as_uri(), 0)
        assert await decision.definition("src/app.py") == ((root / "src/app.py").as_uri(), 0)
        assert await pitfall.definition("Store.save") == ((root / "src/app.py").as_uri(), 5)
        assert await pitfall.definition("../../etc/passwd") is None
        assert await pitfall.definition("src/gone.py") is None
    strange = '---\ntitle: "😀\u2028x"\nreferences: [\'leak.txt\', "😀😀.py", src/net.js#send]\n---\n'
    with show(editor, memory(editor, OTHER), strange) as other:
        assert await other.definition("leak.txt") is None
        assert await other.definition("send]") == ((root / "src/net.js").as_uri(), 0)
    missing = "---\ntitle: x\nreferences:\n- src/gone.py#x\n- src#y\n---\n"
    with show(editor, memory(editor, OTHER), missing) as other:
        for shown in ("src/gone.py", "x\n- src", "src#y", "y\n---"):
            assert await other.definition(shown) is None
        links = await editor.client.text_document_document_link_async(types.DocumentLinkParams(other.item))
        assert not links


async def test_a_turn_is_shown_in_its_transcript(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    home = editor.home
    isolate(monkeypatch, home)
    lines = [prompt("Keep load small, please."), reply("a", said("Done: `load` only reads."))]
    path = home / ".claude/projects/x" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(encoded(*({**one, "cwd": str(editor.repo), "sessionId": SESSION} for one in lines)))
    assert cli("sync", "--repo", str(editor.repo))["state"] == "done"
    shown = cli("sessions", "show", SESSION)
    turn = shown["turns"][0]["id"]
    text = memory(editor).read_text(encoding="utf-8").replace("0123456789ab", turn)
    with show(editor, memory(editor), text) as decision:
        hover = await decision.hover(turn)
        assert r"Keep load small\, please" in hover and "command:lerim.openTurn?" in hover
        found = await decision.definition(turn)
        assert found is not None and found[0].startswith("lerim-transcript:/")
        for uri in (found[0], found[0].replace("turn=", "turn%3D")):  # as it was sent, and as VS Code writes it
            content = await editor.client.protocol.send_request_async(
                types.WORKSPACE_TEXT_DOCUMENT_CONTENT, types.TextDocumentContentParams(uri)
            )
            assert content.text.split("\n")[found[1] :][:3] == ["## You", "", "Keep load small, please."]


async def test_references_are_found_from_a_memory_and_from_a_symbol_in_source(editor: Editor) -> None:
    with show(editor, memory(editor)) as decision:
        assert await decision.references(RECORD.id) == [(f"{PITFALL}.md", RECORD.id), (f"{OLD}.md", RECORD.id)]
        assert (await decision.references(RECORD.id, own=True))[0] == (f"{RECORD.id}.md", "")
        assert sorted(await decision.references("src/app.py")) == [
            (f"{RECORD.id}.md", "src/app.py"),
            (f"{PITFALL}.md", "src/app.py"),
        ]
    with show(editor, editor.repo / "src/app.py") as source, show(editor, editor.repo / "docs/guide.md") as guide:
        assert await source.references("load") == [(f"{RECORD.id}.md", "load")]
        assert await source.references("save") == [(f"{PITFALL}.md", "Store.save")]
        assert await source.references("pass") == []
        assert len(await guide.references("app.py")) == 2


async def test_an_id_is_renamed_with_its_file_and_every_link(editor: Editor) -> None:
    new = "20260801-keep-loading-small"
    with show(editor, memory(editor)) as decision:
        position = decision.at(RECORD.id, 3)
        prepared = await editor.client.text_document_prepare_rename_async(
            types.PrepareRenameParams(decision.item, position)
        )
        assert isinstance(prepared, types.PrepareRenamePlaceholder) and decision.part(prepared.range) == RECORD.id
        edit = await editor.client.text_document_rename_async(types.RenameParams(decision.item, position, new))
        assert edit is not None and edit.document_changes is not None
        moved, *_ = edit.document_changes  # first, so that an editor that saves by itself makes no file of the old name
        assert isinstance(moved, types.RenameFile)
        assert (moved.old_uri, moved.new_uri) == (memory(editor).as_uri(), memory(editor, new).as_uri())
        texts = applied(edit)
        for name in (f"{PITFALL}.md", f"{OLD}.md", f"{RECORD.id}.md"):
            before = next(editor.repo.glob(f".lerim/memory/**/{name}")).read_text(encoding="utf-8")
            assert texts[name.replace(RECORD.id, new)] == before.replace(RECORD.id, new)
        asked = types.RenameFilesParams([types.FileRename(moved.old_uri, moved.new_uri)])
        assert await editor.client.workspace_will_rename_files_async(asked) is None
        private = Quotes(review_paths(editor.repo, Home(editor.home / ".lerim")).private)
        private.path_for(RECORD.id).parent.mkdir(parents=True)
        private.path_for(RECORD.id).write_text("{}", encoding="utf-8")
        files = [types.FileRename(memory(editor).as_uri(), memory(editor, new).as_uri())]
        editor.client.workspace_did_rename_files(types.RenameFilesParams(files))
        await editor.until(private.path_for(new).exists)
        for wrong in ("a/b", PITFALL, ".hidden"):
            with pytest.raises(JsonRpcException, match="id"):
                await editor.client.text_document_rename_async(types.RenameParams(decision.item, position, wrong))


async def test_a_file_or_folder_that_moves_takes_its_references_with_it(editor: Editor) -> None:
    def renamed(old: str, new: str) -> list[types.FileRename]:
        return [types.FileRename((editor.repo / old).as_uri(), (editor.repo / new).as_uri())]

    async def moved(old: str, new: str) -> dict[str, str]:
        params = types.RenameFilesParams(renamed(old, new))
        return applied(await editor.client.workspace_will_rename_files_async(params))

    decision, pitfall = (
        memory(editor).read_text(encoding="utf-8"),
        memory(editor, PITFALL, "learnings").read_text(encoding="utf-8"),
    )
    assert await moved("src/app.py", "lib/main.py") == {
        f"{RECORD.id}.md": decision.replace("src/app.py", "lib/main.py"),
        f"{PITFALL}.md": pitfall.replace("src/app.py", "lib/main.py"),
    }
    assert await moved("src", "lib") == {
        f"{RECORD.id}.md": decision.replace("- src/", "- lib/"),
        f"{PITFALL}.md": pitfall.replace("- src/", "- lib/"),
    }
    assert await moved("src/app.py", "../elsewhere/app.py") == {}
    assert await moved("docs", "documents") == {}
    own = f".lerim/memory/learnings/{PITFALL}.md"
    texts = await moved(own, ".lerim/memory/learnings/20260802-close-all.md")
    assert texts == {
        f"{RECORD.id}.md": decision.replace(PITFALL, "20260802-close-all"),
        f"{PITFALL}.md": pitfall.replace(PITFALL, "20260802-close-all"),
    }


async def test_links_outline_folding_and_the_symbols_of_the_workspace(editor: Editor) -> None:
    with show(editor, memory(editor, PITFALL, "learnings")) as pitfall:
        links = await editor.client.text_document_document_link_async(types.DocumentLinkParams(pitfall.item))
        assert [(pitfall.part(one.range), Path(one.target or "").name) for one in links or []] == [
            ("src/app.py", "app.py"),
            (RECORD.id, f"{RECORD.id}.md"),
        ]
        symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(pitfall.item))
        rows = {one.name: one for one in symbols or [] if isinstance(one, types.DocumentSymbol)}
        assert {"id", "title", "kind", "evidence", "Why", "How"} <= rows.keys()
        assert rows["kind"].detail == "pitfall"
        assert [one.name for one in rows["evidence"].children or []] == ["keep load small please"]
    with show(editor, memory(editor, RECORD.id, "decisions")) as decision:  # its body has no heading
        symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(decision.item))
        assert "title" in {one.name for one in symbols or []}
    with show(editor, memory(editor, PITFALL, "learnings")) as pitfall:
        folds = await editor.client.text_document_folding_range_async(types.FoldingRangeParams(pitfall.item))
        starts = {pitfall.text.split("\n")[one.start_line] for one in folds or []}
        assert {"---", "evidence:", "references:", "related:"} == starts
    found = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("load keep"))
    assert [one.name for one in found or []] == ["Keep load small"]
    everything = await editor.client.workspace_symbol_async(types.WorkspaceSymbolParams(""))
    assert "My own habit" in [one.name for one in everything or []]


async def test_documents_that_are_no_memories_get_nothing_of_the_language(editor: Editor) -> None:
    with show(editor, editor.repo / "docs/notes.md", "---\nki\nrelated:\n  - load\n---\n") as notes:
        assert await notes.complete("ki") == []
        assert await notes.definition("load") is None
        assert await editor.client.text_document_folding_range_async(types.FoldingRangeParams(notes.item)) is None
