"""Parses the shell commands that agents run: which command was really run, whether it passed, which files it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from lerim.extraction.facts.output_lines import FAILED_PATTERN, PASSED_PATTERN
from lerim.extraction.facts.wording import squeeze_spaces
from lerim.patterns import compile_later
from lerim.sessions import ToolCall

_ENV = compile_later(
    r"^(?:export\s)?(?P<name>[A-Z_][A-Z0-9_]{1,40})=(?P<value>\"[^\"]{0,200}\"|'[^']{0,200}'|"
    r"[^\s;&|]{0,200})\s{0,3}(?:&&|;)?\s{0,3}"
)
_CD = compile_later(r"^(?:cd|pushd)\s+(?P<dir>\"[^\"]{1,300}\"|'[^']{1,300}'|[^\s;&|]{1,300})\s{0,3}(?:&&|;)\s{0,3}")
_PLAIN_HEAD = compile_later(
    r"^(?:(?:timeout|time|nice)\s(?:-\S{1,10}\s)?(?:\d{1,5}[smh]?\s)?|set -[eux]{1,3}(?:o pipefail)?\s{0,2}(?:;|"
    r"&&)\s{0,3}|source \S{1,100}\s{0,2}&&\s{0,3})"
)
_TAIL = compile_later(
    r"(?=[\s2>|;])(?:\s{0,3}2>&1|\s{0,3}2>\s?/dev/null|\s{0,3}>\s?/dev/null|\s{0,3}\|\s{0,3}(?:tail|head|grep|egrep|rg"
    r"|less|cat|tee|sed|awk|sort|uniq|wc|Select-Object|Select-String|Out-String)\b[^|;&]{0,200}|\s{0,3}(?:;"
    r"|\|\|)\s{0,3}(?:echo|true|exit)\b[^;&|]{0,120}|\s{0,3};)$"
)
_RUNNERS_LIST = """
    npm pnpm yarn bun npx bunx node deno pip pip3 pipx uv uvx poetry pdm hatch conda tox nox pytest py.test
    python python3 jest vitest mocha playwright cypress docker docker-compose podman make cmake ninja bazel
    gradle ./gradlew gradlew mvn ./mvnw cargo rustup go mise asdf just task rake bundle rails ruby gem composer
    php phpunit dotnet swift xcodebuild flutter dart mix elixir sbt lein terraform helm kubectl ansible-playbook
    alembic prisma drizzle-kit tsx ts-node tsc vite webpack esbuild rollup turbo nx lerna knip ruff mypy pyright
    eslint prettier biome golangci-lint celery gunicorn uvicorn flask django-admin manage.py sqlx diesel
    wrangler vercel pre-commit lefthook
"""
_RUNNERS = frozenset(_RUNNERS_LIST.split())
_PREFIX = compile_later(
    r"(?!(?:sudo|env|echo|cat|man|which|where|whereis|type|command|xargs|watch|cd|git|gh|ls|grep|rg|find|ssh|scp|kill|pkill|"
    r"killall|pgrep|ps|rm|mv|cp|mkdir|touch|chmod|head|tail|less|vim|code|open|brew|apt|apt-get|dnf|yum|apk|pacman|choco|scoop|"
    r"winget|nix|set|export|source|exec|eval|then|do|if|for|while|test)$)[a-z][\w-]{1,14}$"
)
"""Matches a program that may wrap a runner, but not one that prints, looks up or installs it."""
_LINT = compile_later(
    r"\b(?:lint|fmt|format|prettier|eslint|biome|ruff|golangci-lint|clippy|typecheck|type-check|tsc|mypy|pyright|"
    r"gofmt|check|pre-commit|knip)\b"
)
MAX_FILES = 8
_SHOWS = compile_later(r"^(?:cat|bat|nl|head|tail|less|more|type|Get-Content|gc|sed\s{1,3}-n)\s(?P<rest>[^\n]{1,600})$")
_PART = compile_later(r"&&|\|\||[;|\n]")
_SHELL_WORD = compile_later(r"\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^\s\"'<>]{1,300}")
_FILE = compile_later(r"(?:^|[/\\])[\w.@ -]{0,80}\.?\w{1,20}$")
_SCRIPT = compile_later(r"^[\d,$;pq+~]{1,40}$")
"""Matches arguments of `sed -n` or `head -n` that are not files."""


@dataclass(frozen=True, slots=True)
class Command:
    """The command that a tool call really ran, without `cd`, environment assignments, time limits and output
    filters."""

    text: str
    folder: str = ""
    variables: tuple[str, ...] = ()
    filtered: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.text.split())

    @property
    def is_project_command(self) -> bool:
        """Whether this is a project command (test, build, install): one line and one program."""
        words = self.words
        return (
            bool(words)
            and (words[0].rpartition("/")[2] in _RUNNERS or self.has_wrapper)
            and len(self.text) <= 160
            and not re.search(r"[\n;|&<>]|^(?:python3?|node|ruby|deno|bun|tsx)\s(?:-c|-e|eval)\s|\$\(", self.text)
        )

    @property
    def has_wrapper(self) -> bool:
        """Whether a program that is not a runner runs one as its first argument (`doppler run -- npm test` does not
        count)."""
        words = self.words
        return len(words) > 1 and words[1] in _RUNNERS and bool(_PREFIX.match(words[0]))

    @property
    def is_style_check(self) -> bool:
        """Whether the command only checks style or types; its findings are not lessons."""
        return bool(_LINT.search(self.text))


CommandOutcome = Literal["passed", "failed", "unknown"]


@lru_cache(maxsize=256)  # every command is parsed when it arrives, and again when the exchange is judged
def parse_command(command: str) -> Command:
    """Returns the command without its shell wrapping."""
    text = command.strip()[:2_000]
    folder = ""
    variables: list[str] = []
    for _ in range(8):
        if match := _CD.match(text):
            folder = match["dir"].strip("\"'")
        elif match := _ENV.match(text):
            variables.append(f"{match['name']}={match['value']}")
        elif not (match := _PLAIN_HEAD.match(text)):
            break
        text = text[match.end() :]
    filtered = False
    for _ in range(6):
        match = _TAIL.search(text) if ";" in text or "|" in text or ">" in text else None
        if match is None:
            break
        filtered = filtered or "|" in match.group() or ";" in match.group()
        text = text[: match.start()]
    return Command(
        squeeze_spaces(text) if "\n" not in text.strip() else text.strip(), folder, tuple(variables), filtered
    )


def command_outcome(call: ToolCall, command: Command) -> CommandOutcome:
    """Returns whether the command passed, judged by its exit code, or by its output if a filter hides the exit code or
    none was reported (a command in the background, a terminal without shell integration)."""
    if call.status == "error":
        return "failed" if call.exit_code is None or 0 < call.exit_code < 124 else "unknown"
    if call.status != "ok":
        return "unknown"
    if call.exit_code not in (None, 0):
        return "failed"
    if call.exit_code == 0 and not command.filtered:
        return "passed"
    if FAILED_PATTERN.search(call.output):
        return "failed"
    return "passed" if PASSED_PATTERN.search(call.output) else "unknown"


@lru_cache(maxsize=64)
def find_shown_files(command: str) -> tuple[str, ...]:
    """Returns the files that `cat`, `sed -n`, `head` and similar commands print, as written; () if the command
    redirects its output."""
    shown: dict[str, None] = {}
    text = parse_command(command).text[:2_000]
    for part in _PART.split(text) if ">" not in text and "<<" not in text else ():
        match = _SHOWS.match(part.strip())
        if match is None:
            continue
        words = [word.strip("\"'") for word in _SHELL_WORD.findall(match["rest"])]
        shown |= dict.fromkeys(
            word for word in words if word[:1] != "-" and not _SCRIPT.match(word) and _FILE.search(word)
        )
    return tuple(shown)[:MAX_FILES]
