"""`make bench`: run all benchmarks one after another and print their results as one table.

Each benchmark is a script that prints a table and, with `--json FILE`, writes its rows. A row has `what` (or `metric`),
`measured` (or `ours`), `unit` and `budget`, and `ok` if the budget is not a plain upper bound. Figures depend on the
machine, so budgets are ratios where possible. A missed budget is shown in the table but is no failure; a benchmark that
crashes is one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SESSIONS = REPOSITORY.parent / "shared" / "transcripts" / "claude"
TIMEOUT_S = 1200


def main() -> int:
    """Run all benchmarks, or only the named ones. Return 1 if one of them crashed."""
    arguments = argparse.ArgumentParser(description="Run the benchmarks.")
    arguments.add_argument("names", nargs="*", help="such as `sidecar`; all by default")
    chosen_names = arguments.parse_args().names
    scripts = [
        path
        for path in sorted((REPOSITORY / "benchmarks").glob("[!_]*.py"))
        if not chosen_names or path.stem in chosen_names
    ]
    table: list[tuple[str, str, str, str, str]] = []
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        for script in scripts:
            print(f"\n── {script.stem} " + "─" * (70 - len(script.stem)), flush=True)
            report = Path(folder) / f"{script.stem}.json"
            # the exit code says whether budgets were met, and so do the rows
            subprocess.run(
                [sys.executable, *benchmark_command(script, report)], cwd=REPOSITORY, check=False, timeout=TIMEOUT_S
            )
            if report.exists():
                table += [format_row(script.stem, row) for row in json.loads(report.read_text(encoding="utf-8"))]
            else:
                broken += 1
                table.append((script.stem, "did not finish", "", "", "BROKEN"))
    print_table(table)
    return 1 if broken else 0


def benchmark_command(script: Path, report: Path) -> list[str]:
    """The command that runs a benchmark. Those that use real sessions get their folder."""
    session_arguments = [str(SESSIONS)] if script.stem in ("extraction", "ranking") and SESSIONS.is_dir() else []
    return [str(script), *session_arguments, "--json", str(report)]


def format_row(name: str, row: dict[str, object]) -> tuple[str, str, str, str, str]:
    """One row as text: benchmark, what was measured, the result, the budget, the verdict."""
    measured, budget = row.get("measured", row.get("ours")), row.get("budget")
    measured_text = (
        f"{measured:,.2f} {row.get('unit', '')}".strip() if isinstance(measured, int | float) else str(measured)
    )
    ratio = row.get("ratio")
    if isinstance(ratio, int | float) and ratio:
        measured_text += f" ({ratio:.2f} × baseline)"
    ok = row.get("ok")
    if isinstance(budget, int | float):
        ok = isinstance(measured, int | float) and measured <= budget if ok is None else ok
        budget = f"<= {budget:g} {row.get('unit', '')}".strip()
    verdict = "" if budget is None else "ok" if ok else "NOT MET"
    return name, str(row.get("what", row.get("metric"))), measured_text, str(budget or ""), verdict


def print_table(table: list[tuple[str, str, str, str, str]]) -> None:
    """Print the rows under headings, in aligned columns."""
    rows = [("benchmark", "what", "measured", "budget", ""), *table]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    raise SystemExit(main())
