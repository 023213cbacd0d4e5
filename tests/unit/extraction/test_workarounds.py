"""What satisfied a hook, a tool's refusal of a setting, and programs that are not where they are looked for."""

import pytest

from scripted import ROOT, agent, candidates, edited, ran, titles, you

HOOK = (
    "Exit code 1\nhusky - pre-push hook\nTypes....................Passed\nLint.....................Failed\n"
    "- hook id: lint\nFound 3 errors in ./.tool/cache.json\nerror: failed to push some refs to 'example.org:shop.git'"
)
PUSHED = "To example.org:shop.git\n   1a2b3c..4d5e6f  main -> main"
RACE = "Exit code 1\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs (pre-push ok)"


def test_a_push_that_a_hook_stopped_until_a_setting_was_changed_is_a_pitfall() -> None:
    ignored = edited("lint.json", '"dist/**",', '"dist/**",\n".tool/**",\n".cache/**",')
    [found] = candidates(
        you("push it"),
        agent("", ran("git push -u origin main", HOOK, 1)),
        agent("The hook fails because `lint` reads `.tool/`, which is not tracked.", ignored),
        agent("", ran("git commit -am 'lint less'", "[main 4d5e6f] lint less", 0)),
        agent("", ran("git push -u origin main", PUSHED, 0)),
        you("great"),
    )
    assert found.title == "`git push` needs `.tool/**` and `.cache/**` listed in `lint.json`"
    assert (found.signal, found.kind, found.references) == ("fixed-command", "pitfall", ("lint.json",))
    assert found.evidence[0].who == "tool"
    assert "not tracked" in found.body


def test_a_hook_that_was_skipped_teaches_nothing_whatever_was_said_of_the_cause() -> None:
    ignored = "lefthook v1.12 hook: pre-commit\nvendor is ignored\nexit status 1"
    turns = (
        agent("", ran("git commit -m 'keep the client'", ignored, 1)),
        agent("The commit fails because `vendor` stands in `.gitignore`.", edited(".gitignore", "vendor", "build")),
        agent("", ran("git commit -m 'store the client'", ignored, 1)),
        agent("", ran("git commit -m 'store the client' --no-verify", "[main 1a2b3c] store the client", 0)),
    )
    assert [one for one in candidates(you("commit"), *turns, you("ok")) if one.signal == "fixed-command"] == []


@pytest.mark.parametrize(
    "turns",
    [
        (agent("", ran("git push", RACE, 1)), agent("", ran("git push --no-verify", PUSHED, 0))),
        (agent("", ran("git push", HOOK, 1)), agent("", ran("git push --no-verify", PUSHED, 0))),
        (agent("", ran("git push", "Exit code 128\nfatal: no upstream", 128)), agent("", ran("git push", PUSHED, 0))),
        (
            agent("", ran("git push", HOOK, 1)),
            agent("The hook failed because `total` has a wrong type.", edited("src/total.py", "int", "str")),
            agent("", ran("git push", PUSHED, 0)),
        ),
    ],
    ids=["the remote was ahead", "once, and nobody said why", "no hook", "code was mended for the hook"],
)
def test_a_push_that_failed_for_the_moment_or_for_the_code_gives_nothing(turns: tuple) -> None:
    assert [title for title in titles(you("push"), *turns, you("ok")) if "git push" in title] == []


def test_a_setting_the_tool_does_not_know_is_a_pitfall_that_names_the_right_one() -> None:
    refusal = "Exit code 2\nERROR: Unrecognized key(s) in object: 'skipUnlisted'"
    [found] = candidates(
        you("make the check pass"),
        agent("", edited("check.json", '"entry": 1,', '"entry": 1,\n"skipUnlisted": ["a"],')),
        agent("", ran("npx knip", refusal, 2)),
        agent("", edited("check.json", '"skipUnlisted": ["a"],', '"skipDependencies": ["a"],')),
        agent("", ran("npx knip", "all checks passed", 0)),
        you("ok"),
    )
    assert found.title == "`check.json` takes no `skipUnlisted`: `npx knip` refuses it"
    assert "It passed with `skipDependencies` instead." in found.body
    assert [item.who for item in found.evidence] == ["tool", "tool"]
    added = agent("", edited("check.json", '"entry": 1,', '"entry": 1,\n"skipUnlisted": ["a"],'))
    ran_twice = agent("", ran("npx knip", refusal, 2)), agent("", ran("npx knip", "all checks passed", 0))
    assert titles(you("make the check pass"), added, *ran_twice, you("ok")) == []  # nobody took it out


@pytest.mark.parametrize(
    ("failing", "error", "passing", "title"),
    [
        (
            "go test ./...",
            "bash: go: command not found",
            'PATH="$PATH:/opt/go tools/bin" go test ./...',
            "`go` is not on the PATH: it lies in `/opt/go tools/bin`",
        ),
        (
            "go test ./...",
            "The term 'go' is not recognized as a name of a cmdlet",
            "/usr/local/go/bin/go test ./...",
            "`go` is not on the PATH: it lies in `/usr/local/go/bin`",
        ),
        (
            "pytest -q",
            "bash: pytest: command not found",
            f"cd {ROOT} && .venv/bin/pytest -q",
            "Run `.venv/bin/pytest`, not `pytest`",
        ),
        (
            "rtk bun run typecheck",
            "error: unrecognized subcommand 'bun'",
            "bun run typecheck",
            "Run `bun` without `rtk`: `rtk` refuses `bun run`",
        ),
    ],
)
def test_where_a_program_lies_and_how_it_is_called(failing: str, error: str, passing: str, title: str) -> None:
    turns = (agent("", ran(failing, f"Exit code 1\n{error}", 1)), agent("", ran(passing, "5 passed", 0)))
    assert titles(you("run the tests"), *turns, you("ok")) == [title]


@pytest.mark.parametrize("failing", ["which bun", "sudo npm test", "echo npm test", "brew pip"])
def test_what_only_speaks_of_a_program_is_no_wrapper(failing: str) -> None:
    error = "Exit code 1\nerror: unknown command, not found"
    turns = (agent("", ran(failing, error, 1)), agent("", ran(failing.split(" ", 1)[1], "5 passed", 0)))
    assert titles(you("run the tests"), *turns, you("ok")) == []
