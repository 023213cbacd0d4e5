"""Reads the output of commands: the line that names the error, the line that reports success, and the kind of error."""

from __future__ import annotations

import re

from lerim.extraction.facts.wording import squeeze_spaces
from lerim.patterns import compile_later

PASSED_PATTERN = compile_later(
    r"\b(?:\d{1,6} pass(?:ed|ing)|0 fail(?:ed|ures|ing)?|passed|all (?:tests|checks) pass\w*|success\w*|compiled|"
    r"built in|BUILD SUCCESSFUL)\b|^ok\s|✓|✔|PASS\b",
    re.IGNORECASE | re.MULTILINE,
)
FAILED_PATTERN = compile_later(
    r"\b(?:[1-9]\d{0,5} (?:failed|failing|failures|errors?)|(?:ERROR|FAILED|FAIL)\b|Traceback \(most"
    r"|[A-Z]\w{2,40}Error:|error(?: TS\d{4,5})?:|npm ERR!|command not found|Build failed|fatal:|panic:)",
)
_NOISE = compile_later(r"\x1b\[[0-9;?]{0,12}[A-Za-z]|[\x00-\x08\x0b-\x1f]")
_LEADER = compile_later(r"([.\-_=*])\1{3,}")
"""Matches the dots or dashes that fill a line: `Lint.....Failed`."""
_SAYS = (
    "no required module provides|Module not found|Could not resolve|Failed to resolve|can't find crate"
    "|unresolved import|Executable doesn't exist|Unrecognized key|unrecognized|unknown|invalid|unexpected|Cannot find"
    "|Could not find|Missing|missing|No module named|Script not found|import cycle not allowed|permission denied"
    "|connection refused|address already in use|database is locked|no such table|is not set|is required|not installed"
    "|requires?"
)
_HEADS = r"npm ERR! |ERROR:? |error(?:\[E\d{4}\]| TS\d{4,5})?: |fatal: |Error: |FATAL:? |panic: "
_ERRORS = (
    compile_later(r"^(?:E\s{1,8})?(?P<e>(?:[\w.]{1,60}\.)?[A-Z]\w{1,40}(?:Error|Exception|NotFound)\b(?:: .{1,200})?)"),
    compile_later(
        r"(?P<e>command not found: \S+|\S{1,60}: (?:command )?not found(?!: \S)|The term '\S+' is not recognized)"
    ),
    compile_later(rf"(?P<e>(?:{_SAYS})\b.{{0,160}})"),
    compile_later(rf"^\s{{0,8}}(?:{_HEADS})(?P<e>\S.{{2,200}})", re.IGNORECASE),
    compile_later(r"(?P<e>\berror(?: TS\d{4,5})?: .{3,200})"),
    compile_later(r"^(?P<e>(?:--- FAIL: |FAILED |FAIL |✗ |× |not ok )\S.{2,160})"),
)
_LABEL = compile_later(r"^(?:Output|Stdout|Stderr): (?=\S)")
_FRAME = compile_later(
    r"^(?:Error: \(none\)|(?:Command|Directory|Signal|Exit Code|Background PIDs|Process Group PGID): )[^\n]{0,200}$"
)
"""Matches lines that an agent's shell tool puts before and around the output of the command."""
_MESSAGE = compile_later(r"(?:Error|Exception|NotFound): \S")
ENVIRONMENT = compile_later(
    r"ModuleNotFoundError|No module named|ImportError|Cannot find module|Cannot find package|command not found"
    r"|is not recognized|: not found|[Mm]issing script|Script not found|[Uu]nknown (?:option|flag|command|subcommand"
    r"|argument)|[Uu]nrecognized (?:option|argument|subcommand|key)|[Pp]ermission denied|EACCES|ECONNREFUSED"
    r"|[Cc]onnection refused|EADDRINUSE|already in use|environment variable|not set\b|is required|unsupported"
    r"|incompatible|EBADENGINE|peer dep|lockfile|frozen|out of memory|heap limit|not installed|[Cc]ould not connect"
    r"|certificate|import cycle|[Cc]ircular import|[Rr]equires? |no such table|migration|Validation error"
    r"|[Nn]o tests? (?:ran|found|were)|database is locked|[Cc]onfig(?:uration)? (?:error|file)|[Uu]nresolved"
    r"|not configured|E401|E403|toolchain|[Tt]imed? ?out|[Uu]nable to resolve|ERR_REQUIRE_ESM|ERR_MODULE"
)


_MISSING_COMMAND = compile_later(r"command not found: ([\w.+-]{1,40})|(?<!\S)([\w.+-]{1,40}): command not found\b")
"""Matches the message of zsh and other shells for a command that is not installed."""


def missing_command(error: str) -> str:
    """Returns the command that an error line says is not installed, or ""."""
    found = _MISSING_COMMAND.search(error)
    return (found[1] or found[2]) if found else ""


def strip_control_characters(output: str) -> str:
    """Returns the output without colors and control characters."""
    return _NOISE.sub("", output)


def error_line(output: str) -> str:
    """Returns the part of the output that names the error best, verbatim, or "" if there is none."""
    lines = [_LABEL.sub("", line) for line in output[:20_000].split("\n") if line.strip() and not _FRAME.match(line)]
    plain_lines = [_NOISE.sub("", line)[:400] for line in lines[:400]]
    for pattern in _ERRORS:
        for line, plain in zip(lines, plain_lines, strict=False):
            if pattern is _ERRORS[0] and not _MESSAGE.search(line):
                continue
            match = pattern.search(plain)
            if match and len(match["e"].strip()) > 5:
                whole = plain.strip()
                return whole if pattern is _ERRORS[2] and len(whole) <= 120 else match["e"].strip()[:190]
    return ""


def pass_line(output: str) -> str:
    """Returns the line that reports success, or "" if there is none."""
    for line in reversed(output[-4_000:].split("\n")):
        plain = _NOISE.sub("", line).strip()
        if 3 < len(plain) <= 160 and PASSED_PATTERN.search(plain) and not FAILED_PATTERN.search(plain):
            return plain
    return ""


def error_name(line: str) -> str:
    """Returns a short name for the error: its class, its code or its first words."""
    match = re.search(r"\b(?:[A-Z]\w{1,40}(?:Error|Exception)|TS\d{4,5}|E[A-Z]{4,12}|ERR_[A-Z_]{3,30})\b", line)
    if match:
        return match.group()
    words = squeeze_spaces(_LEADER.sub(" ", line)).strip(" .:,;").split(" ")
    short = ""
    for word in words:
        if len(short) + len(word) > 42:
            break
        short = f"{short} {word}".strip()
    return f"“{short.strip(' .:,;(')}”" if short else ""
