"""What is wrong in memory files, as an editor is told it. One sidecar answers all these tests."""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from isolation import isolate
from lerim.lsp.protocol import core, memories
from lerim.memory import parse_record
from lerim.paths import Home
from lerim.review import queue
from proposals import review_paths
from window import Editor, opened_in_thread, write_memory

pytestmark = pytest.mark.asyncio

APP = "def load(path):\n    return path\n\n\ndef unload(path):\n    return path\n"
HEAD = "title: T\ncreated: 2026-08-01\nupdated: 2026-08-01\nsource: manual\nconfidence: 0.9\ntags: []\n"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = (tmp_path_factory.mktemp("checking") / "repo").resolve()
    for name, content in {
        "src/app.py": APP,
        "lib/deep/moved.py": APP,
        "AGENTS.md": "- Never mock the database.\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    write_memory(root)
    return root


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, tmp_path_factory.mktemp("checking-home"))
        async with opened_in_thread(folder) as one:
            await one.start()
            yield one


class Document:
    """A memory that is open in the editor."""

    def __init__(self, editor: Editor, name: str, header: str, body: str = "Text.") -> None:
        self.editor, self.version = editor, 1
        self.path = editor.repo / ".lerim" / "memory" / "decisions" / f"{name}.md"
        self.text = f"---\nid: {name}\n{HEAD}{header}---\n\n{body}\n"
        self.uri = editor.open("", self.text, self.path.as_uri())

    def change(self, old: str, new: str) -> None:
        assert old in self.text
        self.text, self.version = self.text.replace(old, new), self.version + 1
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(self.text)
        self.editor.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    def close(self) -> None:
        self.editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri))
        )

    async def shows(self, *expected: tuple[str, str]) -> list[types.Diagnostic]:
        """Waits until the diagnostics are these: the code, and the text at the diagnostic's range."""
        await self.editor.until(lambda: [(one.code, self.part(one.range)) for one in self.found] == list(expected))
        return self.found

    @property
    def found(self) -> list[types.Diagnostic]:
        return list(
            self.editor.client.diagnostics.get(
                self.uri, [types.Diagnostic(types.Range(types.Position(0, 0), types.Position(0, 0)), "")]
            )
        )

    def part(self, place: types.Range) -> str:
        """The text at a range, in UTF-16 units; the range may be of an earlier text."""
        line = "".join(self.text.split("\n")[place.start.line : place.start.line + 1]).encode("utf-16-le")
        return line[place.start.character * 2 : place.end.character * 2].decode("utf-16-le", "replace")

    async def actions(self, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        found = await actions_at(self.editor, self.uri, diagnostic.range)
        return [one for one in found or [] if isinstance(one, types.CodeAction)]

    async def fix(self, title: str, diagnostic: types.Diagnostic) -> None:
        """Does what the editor does with the edit of an action."""
        [action] = [one for one in await self.actions(diagnostic) if one.title == title]
        assert action.edit is not None and action.edit.document_changes is not None
        [change] = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit) and change.text_document.version == self.version
        lines = self.text.split("\n")
        for edit in change.edits:
            assert isinstance(edit, types.TextEdit)
            start, end = edit.range.start, edit.range.end
            before, after = lines[start.line][: start.character], lines[end.line][end.character :]
            lines[start.line : end.line + 1] = f"{before}{edit.new_text}{after}".split("\n")
        self.change(self.text, "\n".join(lines))


async def actions_at(editor: Editor, uri: str, place: types.Range) -> Sequence[types.Command | types.CodeAction] | None:
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, types.CodeActionContext([]))
    return await editor.client.text_document_code_action_async(params)


async def test_what_is_wrong_follows_every_change_at_its_exact_place(editor: Editor) -> None:
    memory = Document(editor, "a-follows", "kind: pitfall\n", "Mock the “database”.")
    await memory.shows(("contradiction", "T"), ("memory-value", "pitfall"))
    memory.change("kind: pitfall\n", "refrences: [x]\n")
    [_, key] = await memory.shows(("contradiction", "T"), ("unknown-key", "refrences"))
    assert key.severity == types.DiagnosticSeverity.Hint and "Did you mean `references`?" in key.message
    memory.change("refrences: [x]", 'note: "é😀" # 😀\nrelated: ["é😀", nowhere]')
    await memory.shows(
        ("contradiction", "T"), ("unknown-key", "note"), ("unknown-memory", "é😀"), ("unknown-memory", "nowhere")
    )
    memory.change("title: T", "title: T: x")
    await memory.shows(
        ("memory-unreadable", "title: T: x"),
        ("contradiction", "T: x"),
        ("unknown-memory", "é😀"),
        ("unknown-memory", "nowhere"),
    )
    memory.change("Mock", f"{SECRET}\n<<<<<<< a\n=======\n>>>>>>> b\n")
    found = await memory.shows(("secret", SECRET), ("memory-conflict", "<<<<<<< a"))
    assert not any(SECRET in one.message for one in found)
    memory.close()
    await memory.shows()


async def test_a_reference_that_is_gone_is_fixed_by_an_edit_of_its_value_alone(editor: Editor) -> None:
    memory = Document(
        editor, "b-fix", 'references:\n  - "src/moved.py#load" # why\n  - src/app.py#lod\n  - src/none.py\n'
    )
    moved, symbol, gone = await memory.shows(
        ("reference-gone", "src/moved.py#load"), ("reference-gone", "src/app.py#lod"), ("reference-gone", "src/none.py")
    )
    assert {"Change to lib/deep/moved.py#load", "Change to src/app.py#load", "Remove Reference"} <= {
        one.title for one in await memory.actions(moved)
    }
    await memory.fix("Change to lib/deep/moved.py#load", moved)
    await memory.shows(("reference-gone", "src/app.py#lod"), ("reference-gone", "src/none.py"))
    assert '  - "lib/deep/moved.py#load" # why\n' in memory.text
    await memory.fix("Change to src/app.py#load", symbol)
    await memory.fix("Remove Reference", gone)
    await memory.shows()
    assert memory.text.endswith('references:\n  - "lib/deep/moved.py#load" # why\n  - src/app.py#load\n---\n\nText.\n')


async def test_a_reference_to_a_file_that_git_knows_as_renamed_says_its_new_name(editor: Editor) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *arguments], cwd=editor.repo, check=True)

    old = editor.repo / "src" / "rates.py"
    old.write_text(APP.replace("load", "rate"), encoding="utf-8")
    git("add", "src")
    git("commit", "-q", "-m", "Rates")
    git("mv", "src/rates.py", "src/prices.py")
    git("commit", "-q", "-m", "Prices")
    memory = Document(editor, "b-renamed", "references:\n  - src/rates.py#rate\n  - src/rates.py\n")
    symbol, file = await memory.shows(("reference-gone", "src/rates.py#rate"), ("reference-gone", "src/rates.py"))
    assert file.message == "src/rates.py was not found. It was renamed to src/prices.py."
    await memory.fix("Change to src/prices.py#rate", symbol)
    [file] = await memory.shows(("reference-gone", "src/rates.py"))
    assert "renamed to src/prices.py" in file.message, "git is not asked again while one types"
    await memory.fix("Change to src/prices.py", file)
    await memory.shows()
    memory.close()


async def test_between_two_checks_of_all_memories_git_is_asked_once_where_a_file_is(editor: Editor) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *arguments], cwd=editor.repo, check=True)

    async def message_after(other: str) -> str:
        """The message about the file, once the memory was checked again, since it refers to another missing one too."""
        path = write_memory(editor.repo, id="20260805-fees", references=("src/fees.py", other))
        editor.changed(path)
        shown = editor.client.diagnostics
        await editor.until(lambda: any(other in one.message for one in shown.get(path.as_uri(), [])))
        return next(one.message for one in shown[path.as_uri()] if "fees.py" in one.message)

    old = editor.repo / "src" / "fees.py"
    old.write_text(f"{APP}# fees\n", encoding="utf-8")
    git("add", "src")
    git("commit", "-q", "-m", "Fees")
    write_memory(editor.repo, id="20260805-fees", references=("src/fees.py",))
    old.rename(old.with_name("costs.py"))
    await editor.ask(core.CHECK, {"root": editor.root})
    assert "renamed" not in await message_after("src/one.py")
    git("add", "-A", "src")
    git("commit", "-q", "-m", "Costs")
    assert "renamed" not in await message_after("src/two.py"), "it was asked at the change before"
    await editor.ask(core.CHECK, {"root": editor.root})
    assert "renamed to src/costs.py" in await message_after("src/three.py")
    path = write_memory(editor.repo, id="20260805-fees")
    path.unlink()
    editor.changed(path)


async def test_links_are_checked_again_when_other_memories_change(editor: Editor) -> None:
    memory = Document(editor, "c-links", "supersedes: c-later\n")
    await memory.shows(("unknown-memory", "c-later"))
    later = write_memory(editor.repo, id="c-later", supersedes=("c-links",))
    editor.changed(later)
    [circle] = await memory.shows(("link-circle", "c-later"))
    await memory.fix("Remove Link", circle)
    await memory.shows()
    later.unlink()
    editor.changed(later)


async def test_the_actions_on_a_memory_are_commands_with_its_handle(editor: Editor) -> None:
    path = editor.repo / ".lerim" / "memory" / "decisions" / "20260801-keep-load-small.md"
    uri = editor.open(path.relative_to(editor.repo).as_posix())
    place = types.Range(types.Position(0, 0), types.Position(0, 0))
    found = await actions_at(editor, uri, place)
    # the client takes an action that is only a command for a bare command, whose parts it turns into text
    commands = re.findall(r"'command': '([\w.]+)', 'arguments': \['(\w+)'\]", str(found))
    assert [name for name, _ in commands] == [
        core.VERIFY_MEMORY,
        core.ARCHIVE_MEMORY,
        memories.CHANGE_KIND,
        memories.GLOBALIZE_MEMORY,
        memories.MOVE_MEMORY,
    ]
    [handle] = {argument for _, argument in commands}
    shown = await editor.client.protocol.send_request_async(core.MEMORY_SHOW, {"id": handle})
    assert shown.id == "20260801-keep-load-small"
    (editor.repo.parent / "link").symlink_to(editor.repo)  # as a person may open the folder
    linked = editor.open("", path.read_text(), (editor.repo.parent / "link" / path.relative_to(editor.repo)).as_uri())
    assert str(await actions_at(editor, linked, place)) == str(found)
    assert await actions_at(editor, editor.open("src/app.py"), place) is None


async def test_an_action_that_fixes_what_is_wrong_is_offered_once(editor: Editor) -> None:
    path = write_memory(editor.repo, id="20260801-once", references=("src/none.py", "src/nowhere.py"))
    uri = editor.open(path.relative_to(editor.repo).as_posix())
    found = str(await actions_at(editor, uri, types.Range(types.Position(0, 0), types.Position(20, 0))))
    path.unlink()
    assert found.count("Remove Reference") == 2 and found.count(f"'command': '{core.ARCHIVE_MEMORY}'") == 1


async def test_the_selected_part_of_a_memory_becomes_a_memory_of_its_own(editor: Editor) -> None:
    body = "One 😀 thing.\n\n- Retry twice\n\n  because the network is slow.\n\nThe end."
    path = write_memory(editor.repo, id="20260801-two", body=body, references=("src/app.py",), supersedes=("gone",))
    uri = editor.open(path.relative_to(editor.repo).as_posix())
    lines = path.read_text("utf-8").split("\n")
    first = lines.index("- Retry twice")

    async def split(start: tuple[int, int], end: tuple[int, int]) -> types.CodeAction | None:
        found = await actions_at(editor, uri, types.Range(types.Position(*start), types.Position(*end)))
        named = [one for one in found or [] if one.title == "Split into New Memory"]
        return named[0] if named and isinstance(named[0], types.CodeAction) else None

    action = await split((first, 0), (first + 3, 0))
    assert action is not None and action.edit is not None and action.edit.document_changes is not None
    create, new, old = action.edit.document_changes
    assert isinstance(create, types.CreateFile) and isinstance(new, types.TextDocumentEdit)
    assert isinstance(old, types.TextDocumentEdit) and old.text_document.uri == uri
    assert [(one.range, one.new_text) for one in old.edits if isinstance(one, types.TextEdit)] == [
        (types.Range(types.Position(first, 0), types.Position(first + 3, 0)), "")
    ]
    [written] = new.edits
    assert isinstance(written, types.TextEdit) and create.uri == new.text_document.uri
    place = path.with_name(create.uri.rpartition("/")[2])
    record = parse_record(written.new_text, place)
    assert (record.title, record.body) == ("Retry twice", "because the network is slow.")
    assert (record.related, record.references, record.supersedes) == (("20260801-two",), ("src/app.py",), ())
    assert record.id == place.stem and record.id.endswith("-retry-twice") and not place.exists()
    assert await split((0, 0), (first + 1, 0)) is None, "the header is not a part of the text"
    assert await split((first - 2, 0), (len(lines) - 1, 0)) is None, "nothing would be left"
    path.unlink()
    editor.changed(path)


async def test_a_check_of_all_memories_shows_closed_files_until_they_are_mended(editor: Editor) -> None:
    wrong = write_memory(editor.repo, id="d-wrong", title="Unload it", references=("src/nowhere.py",))
    result = await editor.client.protocol.send_request_async(core.CHECK, {"root": editor.repo.as_uri()})
    assert (result.memories, result.errors) == (2, 1)
    await editor.until(
        lambda: [one.code for one in editor.client.diagnostics.get(wrong.as_uri(), [])] == ["reference-gone"]
    )
    assert editor.client.diagnostics[wrong.as_uri()][0].range.start.line == 9
    write_memory(editor.repo, id="d-wrong", title="Unload it", references=("src/app.py",))
    editor.changed(wrong)
    await editor.until(lambda: not editor.client.diagnostics[wrong.as_uri()])


async def test_an_open_memory_whose_file_moved_is_not_a_second_file_with_its_id(editor: Editor) -> None:
    path = write_memory(editor.repo, id="e-moved")
    memory = Document(editor, "e-moved", "kind: pitfall\n")
    await memory.shows(("memory-value", "pitfall"))
    other = path.parent.parent / "learnings" / path.name
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(path.read_bytes())
    editor.changed(other)
    twice, _ = await memory.shows(("memory-twice", "e-moved"), ("memory-value", "pitfall"))
    assert "'title': 'Merge with Duplicate'" in str(await actions_at(editor, memory.uri, twice.range))
    path.unlink()
    editor.changed(path)
    await memory.shows(("memory-value", "pitfall"))
    memory.close()
    other.unlink()
    editor.changed(other)


async def test_a_memory_is_hinted_at_its_title_while_its_text_is_that_of_another(editor: Editor) -> None:
    memory = Document(editor, "f-one", "")
    other = memory.path.with_name("f-two.md")
    for path in (memory.path, other):
        path.write_text(memory.text.replace("id: f-one", f"id: {path.stem}"), encoding="utf-8")
        editor.changed(path)
    [hint] = await memory.shows(("same-memory", "T"))
    assert hint.severity == types.DiagnosticSeverity.Hint and hint.message.startswith("f-two says the same.")
    assert "'title': 'Merge with Duplicate'" in str(await actions_at(editor, memory.uri, hint.range))
    memory.change("Text.", "Another text.")
    await memory.shows()
    memory.change("Another text.", "text")
    await memory.shows(("same-memory", "T"))
    place = review_paths(editor.repo, Home(editor.home / ".lerim"))
    both = tuple(place.store().load(path)[0] for path in (memory.path, other))
    merge = queue.propose_suggestion(place, queue.Suggestion("merge", both[0].record, both, "They say the same."))
    assert isinstance(merge, queue.CandidateProposed)
    reject = {"root": editor.root, "id": merge.proposal.id, "action": "reject"}
    assert (await editor.ask(core.REVIEW_ACT, reject)).ok
    await memory.shows()
    assert (await editor.ask(core.REVIEW_UNDO, {"root": editor.root})).ok
    await memory.shows(("same-memory", "T"))
    other.unlink()
    editor.changed(other)
    await memory.shows()
    memory.close()
    memory.path.unlink()
    editor.changed(memory.path)


async def test_a_personal_memory_is_checked_too(editor: Editor) -> None:
    uri = (editor.home / ".lerim" / "memory" / "decisions" / "own.md").as_uri()
    editor.open("", f"---\nid: own\n{HEAD}kind: pitfall\n---\n\nText.\n", uri)
    await editor.until(lambda: [one.code for one in editor.client.diagnostics.get(uri, [])] == ["memory-value"])
