"""Every surface a text of a session can reach: it goes through a whole sync, with the rules and with a model, and
through accepting; then all that was written, shown and sent is collected.

The set of secrets and look-alikes is a TOML file of `[[item]]` tables: `id`, `kind` ("secret" or "lookalike"),
`vendor`, `text` (with `{secret}` where the value stands) and `parts`, literal strings and `{alphabet, length}` tables
that are joined. What is random is made by a fixed seed, so that no whole secret stands in a file.
"""

from __future__ import annotations

import contextlib
import io
import json
import string
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Literal

from chat_server import finds
from claude_lines import answer, call, prompt, reply, text
from desk import Desk
from lerim.cli.app import main
from lerim.jobs.sync_context import SyncOptions
from lerim.lsp.features.memories.hovers import HoverMemory, render_hover
from lerim.review import queue
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.display import session_title
from lerim.sessions.search import browsing
from model_desk import model

SHOWN = 8
"""Characters in a row of a secret's random part that are a survivor."""
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "letters": string.ascii_letters,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "base64": string.ascii_letters + string.digits + "+/",
    "base64url": string.ascii_letters + string.digits + "-_",
    "base32": string.ascii_uppercase + "234567",
}
"""Names a set may use instead of writing an alphabet out."""


@dataclass(frozen=True, slots=True)
class Item:
    """A text of the set; where one of the `pieces` of its secret can be read, the secret can."""

    id: str
    kind: Literal["secret", "lookalike"]
    text: str
    secret: str
    pieces: tuple[str, ...]
    vendor: str = ""


@dataclass(slots=True)
class Surfaces:
    """Texts by surface, and by the number of the item each belongs to (-1: to none alone)."""

    texts: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(str)))

    def add(self, surface: str, number: int, shown: str) -> None:
        self.texts[surface][number] += f"{shown}\n"


def load(path: Path, seed: str = "a labelled set") -> list[Item]:
    """The items of a set file, their values made anew, always the same."""
    return [made(table, seed) for table in tomllib.loads(path.read_text(encoding="utf-8"))["item"]]


def made(table: Mapping[str, object], seed: str) -> Item:
    """One item of a set."""
    chance = Random(f"{seed} {table['id']}")
    parts: list[str] = []
    by_chance: list[bool] = []
    for part in table.get("parts", ()):  # type: ignore[attr-defined]
        if isinstance(part, str):
            parts.append(part)
            by_chance += [False] * len(part)
            continue
        alphabet = ALPHABETS.get(part["alphabet"], part["alphabet"])
        parts.append("".join(chance.choices(alphabet, k=part["length"])))
        by_chance += [True] * len(parts[-1])
    secret = "".join(parts)
    kind: Literal["secret", "lookalike"] = "secret" if table["kind"] == "secret" else "lookalike"
    said = str(table["text"]).replace("{secret}", secret)
    return Item(str(table["id"]), kind, said, secret, _pieces(secret, by_chance), str(table.get("vendor", "")))


def surfaces(desk: Desk, items: Sequence[Item], *, with_model: bool = True) -> Surfaces:
    """Puts each item into a session of its own as the person's words, the agent's and a tool's, syncs, accepts."""
    for number, item in enumerate(items):
        _session(desk, number, item.text)
    found = Surfaces()
    if with_model:
        for kind in (False, True):
            with model(desk, finds(), summaries=kind) as server:
                desk.sync(SyncOptions(explicit=True))
            for one in server.asked:
                _by_module(found, "model", one.prompt)
    else:
        desk.sync(SyncOptions(explicit=True))
    _files(desk, found, "candidate")
    found.add("review list", -1, _command("review", "list", "--repo", str(desk.repo)))
    found.add("review list", -1, _command("review", "list", "--json", "--repo", str(desk.repo)))
    for proposal in queue.list_pending(desk.place)[0]:
        queue.accept_candidate(desk.place, proposal.id, quotes="shared")
    _files(desk, found, "")
    _memories(desk, found)
    _sessions(desk, found, len(items))
    return found


def _session(desk: Desk, number: int, said: str) -> None:
    path = str(desk.repo / f"src/module{number:04}.py")
    name = f"module{number:04}"
    old, new = f"old{number:04}lib", f"new{number:04}lib"
    desk.session(
        f"{number:08}-0000-4000-8000-000000000000",
        prompt(f"{said}\n\nThat is for src/{name}.py, have a look."),
        reply(f"a{number}", text(f"I see in src/{name}.py: {said}"), call(f"t{number}", "Read", file_path=path)),
        answer(f"t{number}", f"# src/{name}.py\n{said}\n"),
        prompt(f"No, use `{new}` instead of `{old}` in src/{name}.py. {said}"),
        reply(
            f"b{number}",
            text(f"Done in src/{name}.py. {said}"),
            call(f"e{number}", "Edit", file_path=path, old_string=old, new_string=f"{new}  # {said}"),
            call(f"c{number}", "Bash", command=f"python src/{name}.py <<'EOF'\n{said}\nEOF"),
        ),
        answer(f"e{number}", "The file was updated."),
        answer(f"c{number}", f"Error: src/{name}.py: permission denied\n{said}", is_error=True),
        prompt("perfect, commit it"),
        reply(f"d{number}", text("Committed.")),
    )


def _number(shown: str) -> int:
    at = shown.find("module")
    digits = shown[at + 6 : at + 10]
    return int(digits) if at >= 0 and digits.isdigit() else -1


def _by_module(found: Surfaces, surface: str, shown: str) -> None:
    found.add(surface, _number(shown), shown)


KINDS = (
    ("review/", "candidate"),
    ("workspace", "run folder"),
    ("summaries", "summary"),
    ("summary", "summary"),
    ("memory", "memory"),
    ("activity", "activity log"),
)


def _files(desk: Desk, found: Surfaces, only: str) -> None:
    for root in (desk.repo / ".lerim", desk.home.root):
        for path in sorted(root.rglob("*")):
            if (
                not path.is_file()
                or path.suffix in (".sqlite3", ".sqlite3-wal", ".sqlite3-shm")
                or path.name == "config.toml"
            ):
                continue
            inside = str(path.relative_to(root))
            surface = next((name for word, name in KINDS if word in inside), "other file")
            if (surface == "candidate" and not only) or (only and surface != only):
                continue
            shown = path.read_text(encoding="utf-8", errors="replace")
            number = -1 if surface in ("run folder", "activity log", "other file") else _number(shown)
            found.add(surface, number, shown)
            found.add("file name", number, path.name)


def _memories(desk: Desk, found: Surfaces) -> None:
    for stored in desk.place.store().load_all()[0]:
        number = _number(stored.path.read_text(encoding="utf-8"))
        hover = render_hover(HoverMemory(stored.record, "0" * 16), datetime.now(UTC), trusted=True)
        found.add("hover", number, hover.replace("\\", ""))
        found.add("memory show", number, _command("memory", "show", stored.record.id, "--repo", str(desk.repo)))


def _sessions(desk: Desk, found: Surfaces, count: int) -> None:
    with Catalog.open(desk.home) as catalog:
        for number in range(count):
            for row in catalog.search_turns(f"module{number:04}", limit=10):
                found.add("search", number, f"{row.text}\n{row.tools}")
        for place in catalog.load_stamps():
            brief = browsing.find_list_item(catalog.db, place)
            if brief is not None:
                found.add("title", int(brief.session_id[:8]), session_title(brief))
    for number in range(count):
        found.add("sessions search", number, _command("sessions", "search", f"module{number:04}", "--json"))


def _command(*arguments: str) -> str:
    """What a command prints."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
        main(list(arguments))
    return out.getvalue() + errors.getvalue()


@dataclass(frozen=True, slots=True)
class Figures:
    """By surface: the secrets that survived there, and the look-alikes that were cut."""

    survived: Mapping[str, tuple[str, ...]]
    cut: Mapping[str, tuple[str, ...]]
    secrets: int
    lookalikes: int

    def lines(self) -> Iterator[str]:
        yield f"{self.secrets} secrets, {self.lookalikes} look-alikes"
        for surface in sorted({*self.survived, *self.cut}):
            left, lost = self.survived.get(surface, ()), self.cut.get(surface, ())
            share = 100 * (1 - len(left) / max(1, self.secrets))
            alike = 100 * len(lost) / max(1, self.lookalikes)
            yield f"{surface:16} {share:5.1f} % of secrets cut, {alike:4.1f} % of look-alikes cut  {' '.join(left[:8])}"
        anywhere = {name for names in self.survived.values() for name in names}
        whole = {name for names in self.cut.values() for name in names}
        yield f"survived somewhere: {len(anywhere)} {json.dumps(sorted(anywhere))}"
        yield f"look-alikes cut somewhere: {len(whole)} {json.dumps(sorted(whole))}"


def figures(items: Sequence[Item], found: Surfaces) -> Figures:
    """How much of a set survived, by surface."""
    survived: dict[str, tuple[str, ...]] = {}
    cut: dict[str, tuple[str, ...]] = {}
    for surface, texts in found.texts.items():
        whole = "\n".join(texts.values())
        survived[surface] = tuple(one.id for one in items if one.kind == "secret" and survives(one, whole))
        alike = [(number, one) for number, one in enumerate(items) if one.kind == "lookalike"]
        cut[surface] = tuple(one.id for number, one in alike if "[redacted:" in texts.get(number, ""))
    return Figures(
        survived, cut, sum(one.kind == "secret" for one in items), sum(one.kind == "lookalike" for one in items)
    )


def survives(item: Item, shown: str) -> bool:
    """Whether eight characters in a row of a secret can be read, of which most were made by chance."""
    return any(piece in shown for piece in item.pieces)


def _pieces(secret: str, made: Sequence[bool]) -> tuple[str, ...]:
    """Eight characters in a row (all, of a shorter secret) of which at least six (or half) were made by chance: what is
    fixed or short could stand anywhere else."""
    size = min(SHOWN, len(secret))
    least = 6 if size == SHOWN and sum(made) >= SHOWN else (size + 1) // 2
    return tuple(secret[at : at + size] for at in range(len(secret) - size + 1) if sum(made[at : at + size]) >= least)
