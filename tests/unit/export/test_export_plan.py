"""What `lerim export` plans, as a function of memories and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lerim.export.choosing import MAX_BYTES, MAX_LINES, RuleMemory
from lerim.export.rule_lines import find_new_words, parse_line, render_line, render_lines
from lerim.memory import Evidence, ServedOutcomes
from rules import ROOT, files, memory, plan, removal, texts_after, written

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "export"
PRICES = memory("Prices are Decimal, never float", "src/billing/money.py#Price", "src/billing/tax.py")
UV = memory("Use uv, not pip")
ROUNDING = memory(
    "Rounding half up lost a cent", "src/billing/money.py", primitive="learning", kind="pitfall", confidence=0.8
)
OPEN = memory("Should invoices be archived?", primitive="question")
ALL = (PRICES, UV, ROUNDING, OPEN)


@pytest.mark.parametrize(
    ("name", "texts", "used"),
    [
        ("AGENTS.md", {}, ("codex",)),
        ("CLAUDE.md", {"CLAUDE.md": "# App\n\nRun the tests.\n"}, ("claude",)),
        ("GEMINI.md", {"GEMINI.md": "# App"}, ("gemini",)),
        (".claude/rules/lerim-src-billing.md", {}, ("claude",)),
        (".cursor/rules/lerim-src-billing.mdc", {}, ("cursor",)),
        (".github/instructions/lerim-src-billing.instructions.md", {}, ("copilot",)),
    ],
)
def test_each_format_is_what_the_golden_file_says(name: str, texts: dict[str, str], used: tuple[str, ...]) -> None:
    after = texts_after(plan(ALL, files(texts), *used))[name]
    golden = GOLDEN / name.replace("/", "_").lstrip(".")
    assert after == golden.read_text(encoding="utf-8"), f"{golden} differs"


@pytest.mark.parametrize(
    ("texts", "used", "target"),
    [
        ({}, (), "AGENTS.md"),
        ({"AGENTS.md": "a\n"}, ("claude", "codex"), "AGENTS.md"),
        ({"CLAUDE.md": "a\n"}, ("claude", "codex"), "CLAUDE.md"),
        ({".claude/CLAUDE.md": "a\n"}, ("claude",), ".claude/CLAUDE.md"),
        ({"CLAUDE.md": "see @AGENTS.md\n"}, ("claude",), "AGENTS.md"),
        ({"CLAUDE.md": "see `@AGENTS.md`\n"}, ("claude",), "CLAUDE.md"),
        ({"CLAUDE.md": "```\n@AGENTS.md\n```\n"}, ("claude",), "CLAUDE.md"),
        ({"CLAUDE.md": "mail me@AGENTS.md\n"}, ("claude",), "CLAUDE.md"),
        ({"CLAUDE.local.md": "mine\n"}, ("claude",), "AGENTS.md"),
        ({"GEMINI.md": "a\n"}, ("gemini",), "GEMINI.md"),
        ({"GEMINI.md": "@./AGENTS.md\n"}, ("gemini",), "AGENTS.md"),
        ({"AGENTS.md": "a\n", "CLAUDE.md": "b\n"}, ("claude", "copilot"), "CLAUDE.md"),
        ({"AGENTS.md": "a\n", "CLAUDE.md": "b\n"}, ("claude", "codex"), "AGENTS.md"),
        ({"AGENTS.md": "a\n", "GEMINI.md": "b\n"}, ("gemini", "codex", "cursor"), "AGENTS.md"),
    ],
)
def test_the_block_is_in_one_file_and_only_agents_md_is_ever_created(
    texts: dict[str, str], used: tuple[str, ...], target: str
) -> None:
    after = texts_after(plan([UV], files(texts), *used))
    assert list(after) == [target]
    assert (after[target] or "").startswith(texts.get(target, "<!-- lerim:begin"))


def test_a_file_that_is_a_link_to_another_is_written_once() -> None:
    linked = files({"AGENTS.md": "a\n"}, links={"CLAUDE.md": "AGENTS.md"})
    assert list(texts_after(plan([UV], linked, "claude", "codex"))) == ["AGENTS.md"]
    other = files({"CLAUDE.md": "a\n"}, links={"AGENTS.md": "CLAUDE.md"})
    planned = plan([UV], other, "claude", "codex")
    assert list(texts_after(planned)) == ["CLAUDE.md"] and planned.unserved == ()


def test_the_block_stays_where_it_is_and_leaves_a_file_that_now_imports_the_other() -> None:
    start = files({"AGENTS.md": "a\n", "CLAUDE.md": "b\n"})
    there = written(start, plan([UV], start, "claude"))
    assert "lerim" in there.texts["CLAUDE.md"]
    assert plan([UV], there, "claude", "codex", "opencode").edits == ()
    imports = replace(there, texts={**there.texts, "CLAUDE.md": "@AGENTS.md\n\n" + there.texts["CLAUDE.md"]})
    moved = texts_after(plan([UV], imports, "claude"))
    assert moved["CLAUDE.md"] == "@AGENTS.md\n\nb\n" and "Use uv" in (moved["AGENTS.md"] or "")


def test_who_reads_none_of_it_is_told_with_what_to_do() -> None:
    [said] = plan([UV], files({"AGENTS.md": "a\n", "CLAUDE.md": "b\n"}), "claude", "codex").unserved
    assert said == "Claude Code does not read AGENTS.md: add a line `@AGENTS.md` to CLAUDE.md."
    [gemini] = plan([UV], files({"AGENTS.md": "a\n"}), "gemini").unserved
    assert gemini.startswith("Gemini CLI does not read AGENTS.md: add `")
    settings = files({"AGENTS.md": "a\n", ".gemini/settings.json": '{"context": {"fileName": ["AGENTS.md"]}}'})
    assert plan([UV], settings, "gemini").unserved == ()


def test_copilots_own_rules_are_written_only_where_claudes_are_not() -> None:
    assert ".github/instructions/lerim-src-billing.instructions.md" in texts_after(plan(ALL, files(), "copilot"))
    start = files()
    there = written(start, plan(ALL, start, "copilot"))
    both = texts_after(plan(ALL, there, "copilot", "claude"))
    assert both[".github/instructions/lerim-src-billing.instructions.md"] is None
    assert ".claude/rules/lerim-src-billing.md" in both


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (memory("A page says so", evidence=(Evidence("x", "t", "web"), Evidence("y", "t", "tool"))), "tool"),
        (memory("The key is sk-ant-api03-" + "aB3dE6gH9j" * 8), "secret"),
        (
            memory("The key", body="AWS key AKIAQ3EGRW2YSV7TXM5N, secret_key = 'x9Lq2Zt7Vb4Nc8Rm1Kd6Pf3Hj5Gs0Wa'"),
            "secret",
        ),
        (memory("Billing", primitive="theme"), "theme"),
    ],
)
def test_what_must_not_be_in_a_file_is_left_out_and_told(left: object, reason: str) -> None:
    planned = plan([left, UV], files())  # type: ignore[list-item]
    assert [one.reason for one in planned.left_out] == [reason]
    assert planned.written == (UV.record.id,)


def test_the_most_worth_have_the_room_and_the_rest_is_counted() -> None:
    many = [memory(f"Rule number {n} is a rule", confidence=0.5 + n / 1000) for n in range(100)]
    used = memory("Used all the time", confidence=0.5, uses=40)
    repeated = replace(memory("Said again and again", confidence=0.4), outcomes=ServedOutcomes(repeated=3))
    planned = plan([*many, used, repeated])
    text = texts_after(planned)["AGENTS.md"] or ""
    lines = text.splitlines()
    assert len(lines) <= MAX_LINES and len(text.encode()) <= MAX_BYTES + 96
    assert "Used all the time" in text and "Said again and again" in text
    assert "number 99 " in text and "number 0 " not in text
    assert len(planned.written) + len(planned.left_out) == 102
    wide = plan([memory("語" * 120 + str(n)) for n in range(100)])
    assert len((texts_after(wide)["AGENTS.md"] or "").encode()) <= MAX_BYTES + 96


def test_the_reason_follows_the_title_where_there_is_room_and_takes_the_place_of_no_memory() -> None:
    why = "Floats lost cents, and the tax office complained. " * 4
    explained = RuleMemory(replace(UV.record, body=f"{UV.record.title}. In reply to: “Pip?” {why}"))
    [line] = [one for one in (texts_after(plan([explained]))["AGENTS.md"] or "").splitlines() if "Use uv" in one]
    assert line.startswith("- decision: Use uv, not pip — Floats lost cents, and the tax office complained.")
    assert len(line) < 190
    many = [RuleMemory(replace(memory(f"Rule {n} {'x' * 80}").record, body=why)) for n in range(20)]
    bare = plan([replace(one, record=replace(one.record, body="")) for one in many])
    full = plan(many)
    assert set(full.written) == set(bare.written)
    assert 0 < (texts_after(full)["AGENTS.md"] or "").count(" — Floats") < len(full.written)
    assert full.left_out == bare.left_out


def test_lines_with_and_without_a_reason_are_read_and_an_edit_of_either_part_is_found() -> None:
    record = replace(UV.record, body="It is faster.")
    for own in render_lines(record):
        assert parse_line(own) is not None and find_new_words(record, own) is None
    line = render_line(record, with_reason=True)
    assert "Use uv, not pip — It is faster. (" in line
    assert find_new_words(record, line.replace("not pip", "never pip")) == ("Use uv, never pip", "")
    assert find_new_words(record, line.replace("faster", "locked")) == ("Use uv, not pip", "It is locked.")
    both = line.replace("not pip", "never pip").replace("faster", "locked")
    assert find_new_words(record, both) == ("Use uv, never pip", "It is locked.")
    assert find_new_words(record, render_line(record).replace("not pip", "never")) == ("Use uv, never", "")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- lerim:begin v1 sha=123 -->\nx\n",
        "x\n<!-- lerim:end -->\n",
        "<!-- lerim:begin v1 sha=1 -->\n<!-- lerim:begin v1 sha=1 -->\n<!-- lerim:end -->\n<!-- lerim:end -->\n",
        "<!-- lerim:begin v1 sha=1 -->\n<!-- lerim:end -->\n<!-- lerim:begin v1 sha=1 -->\n<!-- lerim:end -->\n",
        "<!-- lerim:begin v9 sha=1 -->\n<!-- lerim:end -->\n",
        "text <!-- lerim:begin v1 sha=1 -->\n<!-- lerim:end -->\n",
        "<!-- lerim:begin -->\n<!-- lerim:end -->\n",
    ],
)
def test_damaged_markers_are_a_problem_and_the_file_stays(text: str) -> None:
    for planned in (plan([UV], files({"AGENTS.md": text})), removal(files({"AGENTS.md": text}))):
        assert planned.edits == planned.hand_edited == ()
        [problem] = planned.problems
        assert problem.path == str(ROOT / "AGENTS.md") and "in line" in problem.message


def test_a_file_with_our_name_but_without_our_mark_is_never_touched() -> None:
    there = files({".claude/rules/lerim-src-billing.md": "mine\n"})
    planned = plan(ALL, there, "claude")
    assert list(texts_after(planned)) == ["AGENTS.md"]
    assert "did not write this one" in planned.problems[0].message
    assert removal(there).edits == ()


def test_codexs_limit_is_told() -> None:
    [problem] = plan([UV], files({"AGENTS.md": "x" * 33_000 + "\n"})).problems
    assert "32 KiB" in problem.message


def test_folders_with_signs_of_patterns_get_a_pattern_that_matches_them_and_names_of_their_own() -> None:
    odd = [
        memory("One", "app/[id]/page.tsx"),
        memory("Two", "app/{a,b}/page.tsx"),
        memory("Three", 'app/x"y/page.tsx'),
        memory("Four", "a/b-c/x.py"),
        memory("Five", "a-b/c/x.py"),
        memory("Six", "données/été/x.py"),
    ]
    after = texts_after(plan(odd, files(), "claude"))
    assert '"app/?id?/**"' in "".join(filter(None, after.values()))
    assert len(after) == 6
    for name, text in after.items():
        header = (text or "").split("---\n")[1]
        assert header.startswith('paths:\n  - "') and header.count('"') == 2 and name.isascii()


def test_there_are_at_most_twelve_folders_and_small_ones_join_the_one_around_them() -> None:
    many = [memory(f"Rule {n}", f"src/part{n}/deep/x.py") for n in range(30)]
    after = texts_after(plan(many, files(), "claude"))
    assert len(after) == 12
    assert sum((text or "").count("- decision:") for text in after.values()) == 30
