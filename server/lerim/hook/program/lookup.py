"""Looks up memories in the index of a worktree: one read-only database, which is replaced as a whole when it changes.

The index was right when it was made. If the file or the code of a memory has been touched since, as `stat` shows,
the memory is withheld and the index counts as outdated.
"""

import os
import stat

from . import match
from .small_imports import connect, hash_bytes

INDEX_VERSION = 1
TITLE, QUOTE = 0, 1
_MAX_CANDIDATES = 200
_COLUMNS = "m.row, m.id, m.scope, m.kind, m.updated, m.text, m.file, m.mtime, m.size"


class Item:
    """A memory that was found. A higher `score` comes first. In a briefing, `since` is the day on which its drift was
    seen."""

    __slots__ = (
        "file",
        "id",
        "is_personal",
        "kind",
        "mtime",
        "row",
        "score",
        "section",
        "since",
        "size",
        "text",
        "updated",
    )

    def __init__(self, columns: tuple[int, str, str, str, int, str, str, int, int], score: float) -> None:
        self.row, self.id, scope, self.kind, self.updated, self.text, self.file, self.mtime, self.size = columns
        self.is_personal = scope == "global"
        self.score = score
        self.section = ""
        self.since = ""


class UnusableIndexError(Exception):
    """The index cannot be used."""


class HookIndex:
    """An open index. Raises UnusableIndexError if it is of another version or another worktree, DatabaseError if it
    is damaged."""

    def __init__(self, path: str, root: str) -> None:
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        self._db = connect(f"file:{quoted}?mode=ro&immutable=1", uri=True)
        self.meta: dict[str, str] = dict(self._db.execute("SELECT name, value FROM meta"))
        if self.meta.get("version") != str(INDEX_VERSION) or self.meta.get("root") != root:
            raise UnusableIndexError("another version or worktree")
        self.root = root
        self.is_outdated = False

    def find_for_prompt(self, text: str) -> list[Item]:
        """Returns the memories that a text strongly matches, best first."""
        text = match.clip_text(text)
        scores = self._score_by_words(text)
        for row in self._rows_of_places(text):
            scores[row] = scores.get(row, 0.0) + match.PLACE_SCORE
        return self._load(scores)

    def find_for_failure(self, command: str, output: str) -> list[Item]:
        """Returns the learnings about such a failure, best first."""
        return self._load(self._score_by_words(match.clip_text(f"{command}\n{output}")), _FIXES)

    def find_for_paths(self, paths: list[str], folders: bool) -> list[Item]:
        """Returns the decisions and pitfalls about these files, which are given relative to the root, newest first;
        with `folders`, also those about the folders that contain them."""
        wanted = dict.fromkeys(paths)
        if folders:
            for path in paths:
                folder = path.rpartition("/")[0]
                while folder:
                    wanted[folder] = None
                    folder = folder.rpartition("/")[0]
        rows = self._select(
            "SELECT p.row FROM places p JOIN memories m ON m.row = p.row WHERE p.path IN",
            list(wanted),
            f"ORDER BY m.updated DESC LIMIT {_MAX_CANDIDATES}",
        )
        return self._load(dict.fromkeys((row for (row,) in rows), match.PLACE_SCORE), _RULES)

    def load_start(self) -> list[Item]:
        """Returns the memories of the briefing at a session's start, in order, with the section they are in."""
        rows = self._db.execute(
            f"SELECT s.section, s.since, {_COLUMNS} FROM start s JOIN memories m ON m.row = s.row ORDER BY s.position"
        )
        items: list[Item] = []
        for section, since, *columns in rows:
            item = Item(tuple(columns), 1.0)
            item.section, item.since = section, since
            items.append(item)
        return items

    def is_current(self, item: Item) -> bool:
        """Returns whether the file of a memory, and the files it is about, are as they were when the index was made."""
        stamps = [(item.file, item.mtime, item.size)]
        stamps += self._db.execute("SELECT file, mtime, size FROM sources WHERE row = ?", (item.row,)).fetchall()
        for path, mtime, size in stamps:
            try:
                state = os.stat(path)
            except OSError:
                self.is_outdated = True
                return False
            if (state.st_mtime_ns, state.st_size) != (mtime, size):
                self.is_outdated = True
                return False
        return True

    def has_new_files(self) -> bool:
        """Returns whether a folder of memories has changed since the index was made."""
        for path, mtime in self._db.execute("SELECT path, mtime FROM folders"):
            try:
                now = os.stat(path).st_mtime_ns
            except OSError:
                now = 0
            if now != mtime:
                return True
        return False

    def _score_by_words(self, text: str) -> dict[int, float]:
        found = self._select(
            "SELECT p.row, p.field, sum(t.weight) AS weight, count(*) AS number, m.title_weight, m.quote_weight "
            "FROM terms t JOIN postings p ON p.term = t.id JOIN memories m ON m.row = p.row WHERE t.term IN",
            match.list_terms(text),
            f"GROUP BY p.row, p.field HAVING number >= {match.MIN_FOUND} ORDER BY weight DESC LIMIT {_MAX_CANDIDATES}",
        )
        scores: dict[int, float] = {}
        for row, field, weight, number, title_weight, quote_weight in found:
            share = match.share_found(weight, title_weight if field == TITLE else quote_weight, number)
            if share:
                scores[row] = max(share, scores.get(row, 0.0))
        return scores

    def _rows_of_places(self, text: str) -> set[int]:
        """Returns the memories about a file or symbol that a text names. A bare file name counts if only one file of
        that name is known."""
        rows: set[int] = set()
        paths = match.find_paths(text)
        inside = [path for one in paths if (path := relative_path(self.root, self.root, one))]
        rows.update(row for (row,) in self._select("SELECT row FROM places WHERE path IN", inside))
        names = [path for path in paths if "/" not in path]
        by_name: dict[str, set[str]] = {}
        found = self._select("SELECT name, path, row FROM places WHERE name IN", names)
        for name, path, _ in found:
            by_name.setdefault(name, set()).add(path)
        rows.update(row for name, _, row in found if len(by_name[name]) == 1)
        symbols = match.find_symbols(text)
        for column in ("symbol", "last_name"):
            rows.update(row for (row,) in self._select(f"SELECT row FROM places WHERE {column} IN", symbols))
        return rows

    def _select(self, query: str, values: list[str], rest: str = "") -> list[tuple]:  # type: ignore[type-arg]
        if not values:
            return []
        marks = ",".join("?" * len(values))
        return self._db.execute(f"{query} ({marks}) {rest}", values).fetchall()

    def _load(self, scores: dict[int, float], kinds: tuple[str, ...] = ()) -> list[Item]:
        best = sorted(scores, key=lambda row: -scores[row])[:_MAX_CANDIDATES]
        marks = ",".join("?" * len(best))
        found = self._db.execute(f"SELECT {_COLUMNS} FROM memories m WHERE m.row IN ({marks})", best)
        items = (Item(columns, scores[columns[0]]) for columns in found)
        wanted = [item for item in items if not kinds or item.kind in kinds]
        return sorted(wanted, key=lambda item: (-item.score, -item.updated, item.id))


_RULES = ("decision", "pitfall")
_FIXES = ("friction", "pitfall", "procedure")


def index_name(root: str) -> str:
    """Returns the name, without extension, of the files that belong to a worktree."""
    return hash_bytes(os.fsencode(root))


def find_root(folder: str) -> str:
    """Returns the root of the innermost worktree that contains a folder, with links resolved; "" if there is none."""
    folder = os.path.realpath(folder)
    while True:
        git = os.path.join(folder, ".git")
        try:
            mode = os.stat(git).st_mode
        except (FileNotFoundError, NotADirectoryError):
            mode = 0
        except OSError:
            return ""  # an unreadable inner repository is not part of the outer one
        if stat.S_ISDIR(mode) and os.path.isfile(os.path.join(git, "HEAD")):
            return folder
        if stat.S_ISREG(mode) and _is_pointer(git):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def _is_pointer(path: str) -> bool:
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, 7) == b"gitdir:"
    finally:
        os.close(handle)


def relative_path(root: str, folder: str, path: str) -> str:
    """Returns a path in the form that references use, from the root and with forward slashes; "" if it is outside. A
    relative path starts at `folder`."""
    if not path or "\0" in path or len(path) > 4_096:
        return ""
    written = os.path.normpath(os.path.join(folder, path))
    for one in (written, os.path.realpath(written)):
        if one.startswith(root + os.sep):
            return one[len(root) + 1 :].replace(os.sep, "/")
    return ""
