"""Plans `lerim import`: makes claims for the review from rules files and agents' own memories (`lerim.rules_files`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice

from lerim import files
from lerim.errors import BoundaryError, Problem
from lerim.extraction import make_title
from lerim.memory import Evidence, LearningKind, MemoryRecord, Primitive, parse_reference, reference_text
from lerim.project import Project, tracked
from lerim.redaction import clean_text, redact_secrets
from lerim.review import (
    FILE_PREFIX,
    AlreadyKnown,
    ClaimBlocked,
    FileClaim,
    ReviewPaths,
    preview_file_claims,
)
from lerim.rules_files import (
    EMPHASIS,
    RuleClaim,
    RulesHeader,
    RulesSource,
    list_rules,
    read_personal_memories,
    read_project_memories,
    read_rules_files,
)

CONFIDENCE = 0.6
MAX_CLAIMS = 500
MAX_REFERENCES, MAX_QUOTE_CHARS, MAX_MATCHES, MAX_PATTERNS = 5, 200, 5, 20
_CODE_SPAN = re.compile(r"`([^`\n]{1,200})`")
_PITFALL = re.compile(
    r"\b(?:never|do not|don['’]t|avoid|beware|careful|must not|cannot|can['’]t|fails?|breaks?|pitfall|gotcha)\b",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:we (?:use|chose|decided|keep|store)|decided|instead of|rather than|is the)\b", re.IGNORECASE
)
_PROCEDURE = re.compile(
    r"^(?:run|use|to \w+|before|after|when|install|start|build|test|deploy|execute|call)\b|`[^`]+ [^`]+`", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The claims that an import would propose. `known` are claims that it would not propose, because a memory says
    the same, or because they already wait or were rejected. `files` are the names of the files read. `with_secret`
    and `too_many` count the lines left out: those that contain a secret, and those beyond MAX_CLAIMS."""

    files: tuple[str, ...]
    new: tuple[FileClaim, ...]
    known: tuple[tuple[FileClaim, ClaimBlocked | AlreadyKnown], ...]
    with_secret: int
    too_many: int
    problems: tuple[Problem, ...]


def plan_import(
    paths: ReviewPaths, environ: Mapping[str, str], now: datetime, *, with_local: bool = False
) -> ImportPlan:
    """Reads the rules files of a repository and the memories that agents keep about it; for the personal project,
    the memories that agents keep about the person. `with_local`: also reads CLAUDE.local.md. Proposes nothing.
    Raises MemoryError_, BusyError."""
    project = paths.project
    if project.is_personal:
        sources, problems = read_personal_memories(environ)
    else:
        sources, problems = read_rules_files(project.root, with_local=with_local)
        remembered, more = read_project_memories(project.main_worktree or project.root, environ)
        sources, problems = [*sources, *remembered], [*problems, *more]
    claims, with_secret, too_many = _make_claims(sources, project, now)
    outcomes = preview_file_claims(paths, claims)
    new = tuple(claim for claim, outcome in zip(claims, outcomes, strict=True) if outcome is None)
    known = tuple((claim, outcome) for claim, outcome in zip(claims, outcomes, strict=True) if outcome is not None)
    names = tuple(source.name for source in sources)
    return ImportPlan(names, new, known, with_secret, too_many, tuple(problems))


def _make_claims(sources: Iterable[RulesSource], project: Project, now: datetime) -> tuple[list[FileClaim], int, int]:
    """Returns the claims in the files, in their order and each text once, the number that contain a secret, and the
    number beyond the maximum. Patterns and code spans that name files of the project become references."""
    names = _FileNames(project)
    claims: list[FileClaim] = []
    seen: set[tuple[str, str]] = set()
    with_secret = too_many = 0
    for source in sources:
        for rule, header in list_rules(source):
            record = _make_record(source, rule, header, names, now)
            key = (record.title.casefold(), record.body.casefold())
            if redact_secrets(f"{rule.text}\n{rule.code}").count:
                with_secret += 1
            elif key in seen:
                continue
            elif len(claims) == MAX_CLAIMS:
                too_many += 1
            else:
                seen.add(key)
                claims.append(FileClaim(record))
    return claims, with_secret, too_many


def _make_record(
    source: RulesSource, rule: RuleClaim, header: RulesHeader, names: _FileNames, now: datetime
) -> MemoryRecord:
    place = f"{source.name}#L{rule.line}"
    text = clean_text(EMPHASIS.sub("", rule.text))
    primitive, kind = _guess_kind(text, header)
    return MemoryRecord(
        id="",
        primitive=primitive,
        title=make_title(text),
        created=now,
        updated=now,
        source=f"{FILE_PREFIX}{files.path_to_text(place)}",
        confidence=CONFIDENCE,
        tags=(),
        body=clean_text(_make_body(source, rule, text, header)),
        kind=kind,
        references=names.find_references(rule, header),
        evidence=(Evidence(clean_text(rule.text)[:MAX_QUOTE_CHARS], files.path_to_text(place), source.author),),
    )


def _make_body(source: RulesSource, rule: RuleClaim, text: str, header: RulesHeader) -> str:
    """Returns the body of a claim: the whole sentence, the code block and, as context, the headings."""
    sentence = text if text[-1] in ".!?…" else f"{text}."
    parts = [sentence]
    if rule.code:
        parts.append(rule.code if header.description else f"```\n{rule.code}\n```")
    if rule.context:
        parts.append(f"Section: {' › '.join(clean_text(EMPHASIS.sub('', one)) for one in rule.context)}.")
    if source.folder:
        parts.append(f"Written for {source.folder}/.")
    return "\n\n".join(parts)


def _guess_kind(text: str, header: RulesHeader) -> tuple[Primitive, LearningKind | None]:
    if header.kind in ("feedback", "user"):
        return "learning", "preference"
    if _PITFALL.search(text):
        return "learning", "pitfall"
    if _DECISION.search(text):
        return "decision", None
    return "learning", "procedure" if _PROCEDURE.search(text) else "preference"


class _FileNames:
    """The files that rules may refer to: by a pattern, the files that git tracks; by name, any file that exists."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._matches: dict[str, list[str]] = {}

    def find_references(self, rule: RuleClaim, header: RulesHeader) -> tuple[str, ...]:
        """Returns the files that a rule's patterns or code spans name, if they exist and are not too many."""
        if self._project.is_personal:
            return ()
        found: dict[str, None] = {}
        for pattern in header.patterns[:MAX_PATTERNS]:
            matches = self._match(pattern)
            if len(matches) <= MAX_MATCHES:
                found |= dict.fromkeys(matches)
        for span in _CODE_SPAN.findall(rule.text):
            reference = parse_reference(span)
            if reference is not None and "/" in span and self._is_file(reference.path):
                found[reference_text(reference)] = None
        return tuple(found)[:MAX_REFERENCES]

    def _match(self, pattern: str) -> list[str]:
        """Returns the files that match a pattern, at most MAX_MATCHES + 1. Each pattern is searched for once,
        however many rules have it."""
        if pattern not in self._matches:
            wanted = pattern.removeprefix("./").replace("**/", "*")  # `*` matches `/` too
            matches = (path for path in self._tracked if fnmatchcase(path, wanted) and self._is_file(path))
            self._matches[pattern] = list(islice(matches, MAX_MATCHES + 1))
        return self._matches[pattern]

    @cached_property
    def _tracked(self) -> list[str]:
        return tracked.read_tracked_paths(self._project.root, self._project.common_dir)

    def _is_file(self, name: str) -> bool:
        try:
            return files.resolve_inside(self._project.root, self._project.root / name).is_file()
        except (BoundaryError, OSError, ValueError):
            return False
