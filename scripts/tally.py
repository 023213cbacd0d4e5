"""Counts what passed, failed and was skipped in all checks, from JUnit reports."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Tally:
    """The counts of all checks. `failures` has a readable description of each failure, `skipped` how many tests were
    skipped for each reason."""

    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add_failure(self, description: str) -> None:
        """Count a failure that is in no test report."""
        self.failed += 1
        self.failures.append(description)


def show_results(tally: Tally) -> None:
    """Print what failed, why tests were skipped, and the counts as the last line."""
    for line in tally.failures:
        print(f"FAILED: {line}")
    for reason, count in tally.skipped.most_common():
        print(f"skipped ({count}): {reason}")
    skipped = f", {tally.skipped.total()} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {tally.failed} failed{skipped}", flush=True)


def add_report(tally: Tally, description: str, report: Path, code: int) -> None:
    """Add the results of a JUnit report. A non-zero exit code without a failure in the report counts as one failure."""
    failed = 0
    for case in read_test_cases(report):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            tally.failures.append(
                f"{description}: {case.get('classname', '')} {case.get('name', '')}".replace("  ", " ")
            )
        elif (skipped := case.find("skipped")) is not None:
            tally.skipped[skipped.get("message") or description] += 1
        else:
            tally.passed += 1
    tally.failed += failed
    if code and not failed:
        tally.add_failure(f"{description}: ended with exit code {code}")


def read_test_cases(report: Path) -> Iterator[ET.Element]:
    """The test cases of a JUnit report; none if it is missing or incomplete."""
    try:
        yield from ET.parse(report).iter("testcase")
    except (OSError, ET.ParseError):
        return
