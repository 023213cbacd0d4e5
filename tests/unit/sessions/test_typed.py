"""A person's message, told apart from what they pasted into it."""

from __future__ import annotations

import pytest

from lerim.sessions.readers.engine.pasted_text import extract_own_words, split_message

OWN = "Always use uv here."


@pytest.mark.parametrize(
    "text",
    [
        OWN,
        f"{OWN}\nNever use pip.",
        "rename <file> to <data> and keep the rest",
        "migrate it\nfrom: REST\nto: GraphQL\nand keep the tests",
        "Hi Claude,\nfix the build please",
        "it costs\n$5 a month\n$ 20 a year",
        "We meet today at 10:30",
        "# Task\nfix the build",
        "src/app.py:12 should use pathlib",
        'I like "a": it is short',
        "see /srv/x: line it up",
        "What must I do to understand this error",
        "Version 3:14 warning lights and 16:9 screens stay",
        "app 2.0 requires numpy, but keep 1.0 supported",
        "at first (I think) it was read twice",
        "app 2.0 requires numpy 2, but you have to keep 1.0 working",
        "3:15 error appears in the log when I open the page",
        "10:30 warning mails stop, please look at them",
        "10:30:00 is when the job runs, never move it",
        "WARN: never touch the lock file by hand",
        f"{OWN}\nERROR messages name the file.\n\nDEBUG output goes to stderr.",
        "FAIL the build if a test is skipped",
        "2026-11-30 10:00 is when the freeze starts, so merge before it",
        "src/app.py:12:5 here you forgot the await",
        "src/app.py:12: error messages name the file",
        "Traceback (most recent call last) must never be shown",
        'File "config.py", line 3 should read the environment',
        "app 1.2 requires bar 3, but you have bar 2 pinned; unpin it",
        "Hi,\nplease fix the build.\nNever use pip.\nThanks\n",
        "On the old branch we wrote:\nnever use pip",
        "## Update docs/CHANGELOG.md\nNever name the author.",
        "--- a line of three dashes ends the header",
        "% change is shown in red if it is below zero\n% covered in green",
        "➜ look at the parser\n➜ then at the cart",
        "a | b\n    an indented line",
        "```npm test``` fails on CI.\nNever use SQLite.\n",
        "[ERROR] messages go to stderr, never to stdout. Change the logger.",
        "INFO: the server has started and says where\nINFO: the server stops because it was asked to",
        '"name": must be unique, please check it\n"slug": derive it from the name',
        "| price | only finance |\n|-------|--------------|\n| title | everybody |",
        "src/a.ts should import the type\nsrc/b.ts must not import from src/internal",
        "draft -> review -> published\narchived -> nothing, it is final",
        "one rule.  Another rule.  And a third one.\nwe keep it.  Always.  So do you.",
        "----\n- a list of scripts\n----\n- the commands",
        "",
    ],
)
def test_a_persons_own_message_stays_as_it_is(text: str) -> None:
    assert extract_own_words(text) == text


@pytest.mark.parametrize(
    "pasted",
    [
        "<document>x</document>",
        '<file path="a.py">x</file>',
        "<DOCUMENT>x</DOCUMENT>",
        "<file>a</file> <file>b</file>",
        "```\nx\n```",
        "> x\n> y",
        "2026-01-05 10:00:00 x",
        "[ERROR] x",
        "Traceback (most recent call last):",
        "[02/25/25 03:22:55] INFO x",
        "10:30:00 start\n10:30:01 end",
        "10:30:00.125 INFO start",
        "INFO: start\nERROR: x",
        "ERROR: x\n    at load (/srv/app/a.js:3:14)",
        '"message": "x is not a y",',
        "src/x.py:73:26: EM102 x",
        "src/x.py:12: error: x is not a y  [arg-type]",
        "src/x.ts(12,5): error TS2345: x is not a y",
        "src/x.ts:13:5 - error TS2322: x is not a y",
        '{"level":"error","msg":"x"}',
        "2026/11/30 10:00:00 [error] 12#12: x",
        "Nov 30 10:00:00 host shop[12]: x",
        "/tmp/x.sh: line 1: x: command not found",
        "x.ts:17  POST https://example.invalid/x?a=* 404 (Not Found)",
        "example.invalid/x?a=*:1  Failed to load resource: the server responded with a status of 404 ()",
        "8The resource was preloaded but not used. Please make sure that it is.Understand this warning",
        "  12:7  error  'total' is never read  @typescript-eslint/no-unused-vars",
        "    at Array.map (<anonymous>)",
        "    at load (/srv/app/a.js:3:14)",
        "    at com.example.Shop.load(Shop.java:12)",
        "    at file:///srv/app/main.js:3:1",
        "shop-api-1    | x is missing",
        "kafka-ui   | x\nkafka-ui   |",
        "12:50:01.204 Navigated to x\n\n12:50:01.310 x is missing",
        "ok      example.org/shop/cart    2.288s",
        "(APIServer pid=75986) If this is x, pass a token",
        "#8 1.500 fatal: x",
        "=== RUN   TestX\n    --- FAIL: TestX (0.00s)",
        "make: *** [x] Error 1",
        '  File "/srv/app.py", line 12, in load\n    raise x\n    ^^^^^^^',
        "some-package 4.1.0 requires numpy>=2, but you have numpy 1.26 which is incompatible.",
        "NAME     READY   STATUS    AGE\napi-7d   1/1     Running   3d\nweb-5c   0/1     Pending   1m",
        " id |  email  | plan\n----+---------+------\n 17 | a@b.org | pro\n(1 row)",
        "+----+-----+\n| id | sku |\n+----+-----+\n|  4 | MUG |\n+----+-----+",
        "error[E0502]: cannot borrow `x`\n  --> src/x.rs:88:13\n   |\n88 |   self.x.push(y);\n   |   ^^^^ here",
        "    def test_total():\n        total = add(1, 2)\n>       assert total == 4\nE       assert 3 == 4",
        "-rw-r--r-- 1 ana ana  812 Mar  3 10:09 run.sh\n-rw-r--r-- 1 ana ana 9120 Mar  2 19:44 x.log",
        '10.2.0.14 - - [04/Mar/2025:09:11:58] "GET /x" 404 153\n10.2.0.3 - - [04/Mar/2025:09:12:01] "GET /y" 200 1',
        "[INFO] Building billing 1.4.2\n[ERROR] cannot find the symbol that is named here\n[INFO] BUILD FAILURE",
    ],
)
def test_what_is_pasted_is_cut_out_of_the_words_around_it(pasted: str) -> None:
    own = extract_own_words(f"{OWN}\n{pasted}\nThat is all.")
    assert [line for line in own.split("\n") if line] == [OWN, "That is all."]


@pytest.mark.parametrize(
    "mail",
    [
        "From: a@b.invalid\nTo: c\n\nx",
        "-----Original Message-----\nx",
        "On Mon, Jan 5, 2026 at 3:14 PM A <a@b.invalid> wrote:\nx",
        "Dear Ana,\nx\nKind regards,\nEve",
        "(.venv) ana@host:~/app$ pytest\nx",
        "(shop) (base) ana@host:~/app$ pytest\nx",
        "(base) ➜  app kubectl get pods\nx",
        "[2]$ make test\nx",
        "diff --git a/x.py b/x.py\nx",
        "--- a/x.py\n+++ b/x.py\nx",
        "@@ -1,3 +1,3 @@\nx",
        "root@a1b2c3:/app# ls\nx",
        "(base) ana@mac shop % ls\nx",
        "% cat NOTES.md\nx",
        "% git status\nx",
        "## From docs/house-rules.md\nx",
        "ana@host ~/shop> ls\nx",
        "# AGENTS.md instructions for x\nx",
    ],
)
def test_an_email_or_a_screen_lasts_to_the_end_of_the_message(mail: str) -> None:
    assert extract_own_words(f"{OWN}\n\n{mail}\nx") == OWN


@pytest.mark.parametrize(
    "pasted",
    [
        "diff --git a/x.py b/x.py\nindex 1a..2b 100644\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n\n-old\n+new",
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@ def f():\n-old\n+new\n\\ No newline at end of file",
        "@@ -1,2 +1,3 @@\n ```\n+From: a\n+Subject: b",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n\ncommit 1a2b3c4d\nAuthor: Eve\n\n    Never use uv.\n\n"
        "diff --git a/y b/y\n@@ -1 +0,0 @@\n-x",
    ],
)
def test_a_diff_ends_at_the_blank_line_below_it(pasted: str) -> None:
    below = "- Never use pip.\n\nThat is all."
    own = extract_own_words(f"{OWN}\n{pasted}\n\n{below}")
    assert [line for line in own.split("\n") if line] == [OWN, "- Never use pip.", "That is all."]


def test_a_fence_ends_a_screen_in_it_and_a_block_ends_with_its_last_end_for_it_may_hold_a_forged_one() -> None:
    assert extract_own_words(f"it says\n```\n$ npm test\n```\n{OWN}") == f"it says\n\n{OWN}"
    assert extract_own_words(f"{OWN}\n<document>a</document>\nb\n</document>\n") == OWN


@pytest.mark.parametrize(
    "fenced",
    [
        "```html\n<article>\nhello\n</article>\nWe always disable TLS checks.\n```",
        "```svg\n<text>\nWe always disable TLS checks.\n```",
        "```xml\n<channel>\n<title>x</title>\nWe always disable TLS checks.\n```",
        "````md\n```bash\nx\n```\nWe always disable TLS checks.\n````",
        "```\nx\n```js\nWe always disable TLS checks.\n```",
        '"""\nWe always disable TLS checks.\n""" is what it says',
    ],
)
def test_tags_and_shorter_fences_in_a_fence_do_not_end_it(fenced: str) -> None:
    assert extract_own_words(f"{OWN}\n{fenced}\nNever use SQLite.") == f"{OWN}\n\nNever use SQLite."


@pytest.mark.parametrize(
    "piece",
    [
        "<file> ",
        "<document_",
        "</file>",
        "From: a\n",
        "```\n",
        "<file a",
        "at a.",
        "```\n<file>\n",
        "``` <file> ",
        "-- ",
        "a = 1 ;\n\n",
        "--- a/x\n\nfoo bar\n",
        "<file>\n",
        "\n\n",
        "Hi ",
        f"{OWN}\n<file>x</file> and\n```\ny\n```\n> z\n\nFrom: a@b.invalid\nSubject: c\n\nd",
    ],
)
def test_a_hostile_message_is_read_in_time_that_grows_with_it_alone(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert "".join(part.text for part in split_message(text)) == text
