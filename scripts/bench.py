"""`make bench`: run the benchmarks one after another and print what they measured as one table.

Each benchmark is a program of its own that prints its own table and writes its rows with `--json FILE`; a row names
`what` was `measured` (or `metric`, `ours`), its `unit`, its `budget` and, where a plain upper bound does not say it,
whether it is `ok`. Figures depend on the machine; budgets are ratios where they can be. A budget that is not met is a
row in the table and no failure; a benchmark that breaks is one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SESSIONS = REPOSITORY.parent / "shared" / "transcripts" / "claude"
LIMIT_S = 1200


def main() -> int:
    """Run all benchmarks, or the named ones; 1 when one of them broke."""
    arguments = argparse.ArgumentParser(description="Run the benchmarks.")
    arguments.add_argument("names", nargs="*", help="such as `sidecar`; all by default")
    wanted = arguments.parse_args().names
    scripts = [path for path in sorted((REPOSITORY / "benchmarks").glob("*.py")) if not wanted or path.stem in wanted]
    table: list[tuple[str, str, str, str, str]] = []
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        for script in scripts:
            print(f"\n── {script.stem} " + "─" * (70 - len(script.stem)), flush=True)
            report = Path(folder) / f"{script.stem}.json"
            # exit codes say whether budgets were met: the rows say that too
            subprocess.run([sys.executable, *command(script, report)], cwd=REPOSITORY, check=False, timeout=LIMIT_S)
            if report.exists():
                table += [line(script.stem, row) for row in json.loads(report.read_text(encoding="utf-8"))]
            else:
                broken += 1
                table.append((script.stem, "did not finish", "", "", "BROKEN"))
    show(table)
    return 1 if broken else 0


def command(script: Path, report: Path) -> list[str]:
    """How a benchmark is called; the real sessions are handed to those that ask for them."""
    given = [str(SESSIONS)] if script.stem in ("extraction", "ranking") and SESSIONS.is_dir() else []
    return [str(script), *given, "--json", str(report)]


def line(name: str, row: dict[str, object]) -> tuple[str, str, str, str, str]:
    """One row as text: benchmark, what, measured, budget, verdict."""
    measured, budget = row.get("measured", row.get("ours")), row.get("budget")
    shown = f"{measured:,.2f} {row.get('unit', '')}".strip() if isinstance(measured, int | float) else str(measured)
    ratio = row.get("ratio")
    if isinstance(ratio, int | float) and ratio:
        shown += f" ({ratio:.2f} × baseline)"
    ok = row.get("ok")
    if isinstance(budget, int | float):
        ok = isinstance(measured, int | float) and measured <= budget if ok is None else ok
        budget = f"<= {budget:g} {row.get('unit', '')}".strip()
    verdict = "" if budget is None else "ok" if ok else "NOT MET"
    return name, str(row.get("what", row.get("metric"))), shown, str(budget or ""), verdict


def show(table: list[tuple[str, str, str, str, str]]) -> None:
    """The rows under their headings, columns aligned."""
    rows = [("benchmark", "what", "measured", "budget", ""), *table]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    raise SystemExit(main())
