"""The sentences from git about a day: its commits and tags, the files they changed, the issues they name and close
(`#12`, `group/project#12`, `ABC-12`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lerim.extraction import list_names, shorten
from lerim.journal.entry import DraftSentence, JournalSource
from lerim.project import SHORT_HASH_LENGTH, Commit, Tag
from lerim.redaction import clean_text, find_flags, strip_markup
from lerim.times import format_utc

TOPIC = "Commits"
MAX_COMMITS = 40
"""Maximum number of commits of a day that get a sentence of their own."""
MAX_FILES_NAMED = 3
MAX_FILES_COUNTED = 5
MAX_SUBJECT_CHARS = 160
MAX_PATH_CHARS = 160
OWN_FOLDER = ".lerim/"
"""The folder of Lerim's own files in a repository. A commit that changes nothing else is left out."""

MAX_ISSUES = 50
"""Maximum number of references to issues that are used of one text."""
_HASH_ISSUE = r"(?:[\w.-]{1,60}/[\w.-]{1,60})?#[1-9]\d{0,6}(?!\w)"
_KEY_ISSUE = r"[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,6}(?![\w-])"
_ISSUE = re.compile(rf"(?<![\w&/#-])(?:{_HASH_ISSUE}|{_KEY_ISSUE})")
_CLOSING = re.compile(
    rf"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s{{1,3}}(?P<first>{_HASH_ISSUE}|{_KEY_ISSUE})"
    rf"(?P<more>(?:,?\s{{0,3}}(?:and\s)?(?:{_HASH_ISSUE}|{_KEY_ISSUE})){{0,20}})",
    re.IGNORECASE,
)
_STANDARDS = "AES CVE ES GMT GPT HTTP IEEE ISO MD PEP RFC RSA SHA SSL TLS UTC UTF"
_NOT_AN_ISSUE = frozenset(_STANDARDS.split())
"""Words before a number that make it the name of a standard, an encoding or a model."""


def describe_commits(commits: Sequence[Commit], tags: Sequence[Tag]) -> Iterator[DraftSentence]:
    """Yields the sentences about commits and tags. A commit that only changes Lerim's own files is left out."""
    merges = [commit for commit in commits if len(commit.parents) > 1]
    included = [commit for commit in commits if is_included(commit) and commit not in merges]
    for commit in included[:MAX_COMMITS]:
        yield DraftSentence("done", _describe_commit(commit), (commit_source(commit),), "git", TOPIC)
    if rest := included[MAX_COMMITS:]:
        more = "1 more commit was" if len(rest) == 1 else f"{len(rest)} more commits were"
        yield DraftSentence("done", f"{more} made.", (commit_source(rest[0]), commit_source(rest[-1])), "git", TOPIC)
    if merges:
        yield _describe_merges(merges)
    if len(included) > 1 and (sentence := _describe_files(included)):
        yield sentence
    for tag in tags:
        name = clean_line(tag.name, MAX_PATH_CHARS)
        source = JournalSource(0, f"g:{name}", "tag", name, format_utc(tag.time))
        text = f"Tagged {code(name)} at {code(tag.commit[:SHORT_HASH_LENGTH])}."
        yield DraftSentence("done", text, (source,), "git", TOPIC)


def is_included(commit: Commit) -> bool:
    """Returns whether a commit changed anything besides Lerim's own files; a merge counts."""
    return not commit.files or any(not file.path.startswith(OWN_FOLDER) for file in commit.files)


def commit_source(commit: Commit) -> JournalSource:
    """Returns a commit as a source."""
    return JournalSource(
        number=0,
        ref=f"c:{commit.hash}",
        kind="commit",
        title=commit_subject(commit),
        time=format_utc(commit.time),
    )


def commit_subject(commit: Commit) -> str:
    """Returns the first line of a commit's message in a form that can be shown. A line that reads like an order to
    an agent is not repeated."""
    subject = clean_line(commit.subject, MAX_SUBJECT_CHARS)
    return "a message that reads like an order to an agent" if find_flags(subject) else subject or "no message"


def clean_line(text: str, most: int) -> str:
    """Returns untrusted text on one line, without secrets, markup and hidden characters."""
    return shorten(" ".join(strip_markup(clean_text(text)).split()), most)


def code(text: str) -> str:
    """Returns a name as code in markdown."""
    return "`" + text.replace("`", "'") + "`"


def clean_path(path: str) -> str:
    """Returns a path as code, in a form that can be shown."""
    return code(clean_line(path.encode("utf-8", "replace").decode(), MAX_PATH_CHARS))


def _describe_commit(commit: Commit) -> str:
    files = [file.path for file in commit.files if not file.path.startswith(OWN_FOLDER)]
    changed = f" changed {list_names([clean_path(path) for path in files], MAX_FILES_NAMED, 'file')}" if files else ""
    closed = find_closed_issues(f"{commit.subject}\n{commit.body}")
    closing = f" closed {list_names(closed, MAX_FILES_NAMED, 'issue')}" if closed else ""
    what = f", which{changed}{' and' if changed and closing else ''}{closing}" if changed or closing else ""
    return f"Committed “{commit_subject(commit)}”{what}."


def _describe_merges(merges: Sequence[Commit]) -> DraftSentence:
    """Returns one sentence on all merges, with the issues and pull requests that they name."""
    issues = dict.fromkeys(issue for merge in merges for issue in find_issues(merge.subject))
    named = f": {list_names(list(issues), MAX_FILES_COUNTED, 'issue')}" if issues else ""
    number = "A branch was" if len(merges) == 1 else f"{len(merges)} branches were"
    sources = tuple(commit_source(merge) for merge in merges[:MAX_FILES_COUNTED])
    return DraftSentence("done", f"{number} merged{named}.", sources, "git", TOPIC)


def _describe_files(commits: Sequence[Commit]) -> DraftSentence | None:
    """Returns a sentence on all files that several commits changed, the most often changed first."""
    counts = Counter(file.path for commit in commits for file in commit.files if not file.path.startswith(OWN_FOLDER))
    often = sorted((path for path, number in counts.items() if number > 1), key=lambda path: (-counts[path], path))
    if not counts:
        return None
    number = "1 file" if len(counts) == 1 else f"{len(counts)} files"
    names = list_names([f"{clean_path(path)} ({counts[path]} times)" for path in often[:MAX_FILES_COUNTED]], 9, "file")
    most = f", most often {names}" if names else ""
    issues = [issue for commit in commits for issue in find_issues(f"{commit.subject}\n{commit.body}")]
    named = list_names(list(dict.fromkeys(issues)), MAX_FILES_COUNTED, "issue")
    about = f" They name {named}." if named else ""
    ends = (commit_source(commits[0]), commit_source(commits[-1]))
    return DraftSentence("done", f"The {len(commits)} commits changed {number}{most}.{about}", ends, "git", TOPIC)


def find_issues(text: str) -> tuple[str, ...]:
    """Returns the issues that a text names, each once, in the order of the text."""
    return tuple(dict.fromkeys(_find(text)))[:MAX_ISSUES]


def find_closed_issues(message: str) -> tuple[str, ...]:
    """Returns the issues that a commit message closes: those after `fixes`, `closes` or `resolves`."""
    closed: dict[str, None] = {}
    for match in _CLOSING.finditer(message):
        closed |= dict.fromkeys(_find(f"{match['first']} {match['more']}"))
    return tuple(closed)[:MAX_ISSUES]


def _find(text: str) -> Iterator[str]:
    for match in _ISSUE.finditer(text):
        if match[0].partition("-")[0] not in _NOT_AN_ISSUE:
            yield match[0]
