"""Shell commands as the agents run them: what was really run, whether it passed, and with which error it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lerim.facts.wording import squeeze
from lerim.sessions.model import ToolCall

_ENV = re.compile(
    r"^(?:export\s)?(?P<name>[A-Z_][A-Z0-9_]{1,40})=(?P<value>\"[^\"]{0,200}\"|'[^']{0,200}'|[^\s;&|]{0,200})\s{0,3}(?:&&|;)?\s{0,3}"
)
_CD = re.compile(r"^(?:cd|pushd)\s+(?P<dir>\"[^\"]{1,300}\"|'[^']{1,300}'|[^\s;&|]{1,300})\s{0,3}(?:&&|;)\s{0,3}")
_PLAIN_HEAD = re.compile(
    r"^(?:(?:timeout|time|nice)\s(?:-\S{1,10}\s)?(?:\d{1,5}[smh]?\s)?|set -[eux]{1,3}(?:o pipefail)?\s{0,2}(?:;|&&)\s{0,3}|source \S{1,100}\s{0,2}&&\s{0,3})"
)
_TAIL = re.compile(
    r"(?:\s{0,3}2>&1|\s{0,3}2>\s?/dev/null|\s{0,3}>\s?/dev/null|\s{0,3}\|\s{0,3}(?:tail|head|grep|egrep|rg|less|cat|tee|sed|awk|sort|uniq|wc|"
    r"Select-Object|Select-String|Out-String)\b[^|;&]{0,200}|\s{0,3}(?:;|\|\|)\s{0,3}(?:echo|true|exit)\b[^;&|]{0,120}|\s{0,3};)$"
)
_RUNNERS = frozenset(
    ["npm", "pnpm", "yarn", "bun", "npx", "bunx", "node", "deno", "pip", "pip3", "pipx", "uv", "uvx", "poetry", "pdm", "hatch", "conda", "tox", "nox", "pytest", "py.test", "python", "python3", "jest", "vitest", "mocha", "playwright", "cypress", "docker", "docker-compose", "podman", "make", "cmake", "ninja", "bazel", "gradle", "./gradlew", "gradlew", "mvn", "./mvnw", "cargo", "rustup", "go", "mise", "asdf", "just", "task", "rake", "bundle", "rails", "ruby", "gem", "composer", "php", "phpunit", "dotnet", "swift", "xcodebuild", "flutter", "dart", "mix", "elixir", "sbt", "lein", "terraform", "helm", "kubectl", "ansible-playbook", "alembic", "prisma", "drizzle-kit", "tsx", "ts-node", "tsc", "vite", "webpack", "esbuild", "rollup", "turbo", "nx", "lerna", "knip", "ruff", "mypy", "pyright", "eslint", "prettier", "biome", "golangci-lint", "celery", "gunicorn", "uvicorn", "flask", "django-admin", "manage.py", "sqlx", "diesel", "wrangler", "vercel", "pre-commit", "lefthook"]
)
_LINT = re.compile(
    r"\b(?:lint|fmt|format|prettier|eslint|biome|ruff|golangci-lint|clippy|typecheck|type-check|tsc|mypy|pyright|gofmt|check|pre-commit|knip)\b"
)
_PASSED = re.compile(
    r"\b(?:\d{1,6} pass(?:ed|ing)|0 fail(?:ed|ures|ing)?|passed|all (?:tests|checks) pass\w*|success\w*|compiled|built in|BUILD SUCCESSFUL)\b|^ok\s|✓|✔|PASS\b",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED = re.compile(
    r"\b(?:[1-9]\d{0,5} (?:failed|failing|failures|errors?)|(?:ERROR|FAILED|FAIL)\b|Traceback \(most|[A-Z]\w{2,40}Error:|error(?: TS\d{4,5})?:|"
    r"npm ERR!|command not found|Build failed|fatal:|panic:)",
)
_NOISE = re.compile(r"\x1b\[[0-9;?]{0,12}[A-Za-z]|[\x00-\x08\x0b-\x1f]")
_ERRORS = (
    re.compile(r"^(?:E\s{1,8})?(?P<e>(?:[\w.]{1,60}\.)?[A-Z]\w{1,40}(?:Error|Exception|NotFound)\b(?:: .{1,200})?)"),
    re.compile(r"(?P<e>(?:command not found: \S+|\S{1,60}: (?:command )?not found|The term '\S+' is not recognized.{0,20}))"),
    re.compile(r"(?P<e>(?:Unrecognized key|unrecognized|unknown|invalid|unexpected|Cannot find|Could not find|Missing|missing|No module named|Script not found|import cycle not allowed|"
               r"permission denied|connection refused|address already in use|database is locked|no such table|is not set|is required|not installed|requires?)\b.{0,160})"),
    re.compile(r"^\s{0,8}(?:npm ERR! |ERROR:? |error(?:\[E\d{4}\]| TS\d{4,5})?: |fatal: |Error: |FATAL:? |panic: )(?P<e>\S.{2,200})", re.IGNORECASE),
    re.compile(r"(?P<e>\berror(?: TS\d{4,5})?: .{3,200})"),
    re.compile(r"^(?P<e>(?:--- FAIL: |FAILED |FAIL |✗ |× |not ok )\S.{2,160})"),
)  # fmt: skip
ENVIRONMENT = re.compile(
    r"ModuleNotFoundError|No module named|ImportError|Cannot find module|Cannot find package|command not found|is not recognized|: not found|"
    r"[Mm]issing script|Script not found|[Uu]nknown (?:option|flag|command|subcommand|argument)|[Uu]nrecognized (?:option|argument|subcommand|key)|"
    r"[Pp]ermission denied|EACCES|ECONNREFUSED|[Cc]onnection refused|EADDRINUSE|already in use|environment variable|not set\b|is required|"
    r"unsupported|incompatible|EBADENGINE|peer dep|lockfile|frozen|out of memory|heap limit|not installed|[Cc]ould not connect|certificate|"
    r"import cycle|[Cc]ircular import|[Rr]equires? |no such table|migration|Validation error|[Nn]o tests? (?:ran|found|were)|database is locked|"
    r"[Cc]onfig(?:uration)? (?:error|file)|[Uu]nresolved|not configured|E401|E403|toolchain|[Tt]imed? ?out|[Uu]nable to resolve|ERR_REQUIRE_ESM|ERR_MODULE"
)


@dataclass(frozen=True, slots=True)
class Command:
    """What a call really ran: without `cd`, environment assignments, time limits and filters of the output."""

    text: str
    folder: str = ""
    variables: tuple[str, ...] = ()
    filtered: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.text.split())

    @property
    def runner(self) -> bool:
        """Whether this is a project command (test, build, install), one line and one program."""
        words = self.words
        return (
            bool(words)
            and words[0] in _RUNNERS
            and len(self.text) <= 160
            and not re.search(r"[\n;|&<>]|\s-c\s|\s-e\s|\$\(", self.text)
        )

    @property
    def lint(self) -> bool:
        """Whether it only judges style or types: its findings are no lessons."""
        return bool(_LINT.search(self.text))


Outcome = Literal["passed", "failed", "unknown"]


def parse(command: str) -> Command:
    """The command behind the shell dressing."""
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
        match = _TAIL.search(text)
        if match is None:
            break
        filtered = filtered or "|" in match.group() or ";" in match.group()
        text = text[: match.start()]
    return Command(squeeze(text) if "\n" not in text.strip() else text.strip(), folder, tuple(variables), filtered)


def outcome(call: ToolCall, command: Command) -> Outcome:
    """Whether the command passed, by its exit code; where a filter hides that, by what it printed."""
    if call.status == "error":
        return "failed" if call.exit_code is None or 0 < call.exit_code < 124 else "unknown"
    if call.status != "ok":
        return "unknown"
    if call.exit_code not in (None, 0):
        return "failed"
    if not command.filtered:
        return "passed"
    if _FAILED.search(call.output):
        return "failed"
    return "passed" if _PASSED.search(call.output) else "unknown"


def error_line(output: str) -> str:
    """The line of the output that names the error best, as it stands there; "" where none does."""
    lines = [line for line in output[:20_000].split("\n") if line.strip()][:400]
    for pattern in _ERRORS:
        for line in lines:
            match = pattern.search(_NOISE.sub("", line)[:400])
            if match and len(match["e"].strip()) > 5:
                return match["e"].strip()[:190]
    return ""


def pass_line(output: str) -> str:
    """The line that says it passed; "" where none does."""
    for line in reversed(output[-4_000:].split("\n")):
        plain = _NOISE.sub("", line).strip()
        if 3 < len(plain) <= 160 and _PASSED.search(plain) and not _FAILED.search(plain):
            return plain
    return ""


def error_name(line: str) -> str:
    """A short name for the error: its class, code or first words."""
    match = re.search(r"\b(?:[A-Z]\w{1,40}(?:Error|Exception)|TS\d{4,5}|E[A-Z]{4,12}|ERR_[A-Z_]{3,30})\b", line)
    if match:
        return match.group()
    words = squeeze(line).strip(" .:,;").split(" ")
    short = ""
    for word in words:
        if len(short) + len(word) > 42:
            break
        short = f"{short} {word}".strip()
    return f"“{short.strip(' .:,;(')}”" if short else ""
