from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from lerim import config
from lerim.errors import SettingsError
from lerim.models.providers import Role
from lerim.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_known_setting_has_a_default_and_the_other_way_round():
    text = resources.files("lerim").joinpath("default.toml").read_text(encoding="utf-8")
    assert set(dotted(tomllib.loads(text))) == set(config.KEYS)


def dotted(table, prefix=""):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_without_files_the_defaults_hold_and_say_so(home: Home):
    settings, problems = config.load({}, home)
    assert problems == []
    assert settings.accept_above == 0
    assert settings.quotes == "ask"
    assert set(settings.origins.values()) == {"default"}


def test_each_layer_wins_over_the_one_below(home: Home, tmp_path: Path):
    write(home.config, "[search]\nlimit = 30\n[review]\nquotes = 'local'\n")
    repository = write(tmp_path / "repo/.lerim/config.toml", "[search]\nlimit = 40\n[sync]\nsince = '14d'\n")
    named = write(tmp_path / "named.toml", "[search]\nlimit = 50\n")

    mine, _ = config.load({}, home)
    assert (mine.search_limit, mine.origins["search.limit"]) == (30, str(home.config))

    theirs, problems = config.load({}, home, tmp_path / "repo")
    assert problems == []
    assert (theirs.search_limit, theirs.since, theirs.quotes) == (40, "14d", "local")
    assert theirs.origins["search.limit"] == str(repository)

    last, _ = config.load({"LERIM_CONFIG": str(named)}, home, tmp_path / "repo")
    assert (last.search_limit, last.origins["search.limit"]) == (50, str(named))


@pytest.mark.parametrize(
    "line",
    [
        "[sync]\naccept_above = 0.1",
        "[review]\nquotes = 'shared'",
        "[roles.extract]\nprovider = 'x'\nbase_url = 'http://example.invalid'",
        "[models]\ncommand = ['sh', '-c', 'x']",
        "api_key = 'x'",
    ],
)
def test_a_repository_may_not_set_what_could_harm(home: Home, tmp_path: Path, line: str):
    write(tmp_path / ".lerim/config.toml", line)
    settings, problems = config.load({}, home, tmp_path)
    assert set(settings.origins.values()) == {"default"}
    assert [problem.code for problem in problems] == ["settings"] * len(problems)
    assert problems
    assert all("may not be set by a repository" in problem.message for problem in problems)


def test_an_unknown_setting_is_named_with_the_nearest_known_one(home: Home):
    write(home.config, "[search]\nlimits = 3\n")
    settings, problems = config.load({}, home)
    assert settings.search_limit == 20
    assert "'search.limits' is no setting; did you mean 'search.limit'?" in problems[0].message
    assert problems[0].path == str(home.config)


@pytest.mark.parametrize(
    "line",
    [
        "[search]\nlimit = 0",
        "[search]\nlimit = true",
        "[search]\nlimit = 'many'",
        "[sync]\naccept_above = 1.5",
        "[sync]\nsince = 7",
        "[sync]\nsince = 'yesterday-ish'",
        "[review]\nquotes = 'everywhere'",
        "sync = 3",
        "[search.limit]\nof = 3",
    ],
)
def test_a_value_out_of_bounds_is_a_message_and_the_default_stays(home: Home, line: str):
    write(home.config, line)
    settings, problems = config.load({}, home)
    assert set(settings.origins.values()) == {"default"}
    assert len(problems) == 1
    assert problems[0].message.endswith("It was left out.")


@pytest.mark.parametrize("content", [b"[sync\n", b"\xff\xfe", b"a = " + b"[" * 3000, b"#" * 300_000])
def test_a_broken_file_is_a_message_and_the_other_layers_count(home: Home, tmp_path: Path, content: bytes):
    home.config.parent.mkdir(parents=True)
    home.config.write_bytes(content)
    write(tmp_path / ".lerim/config.toml", "[search]\nlimit = 5\n")
    settings, problems = config.load({}, home, tmp_path)
    assert settings.search_limit == 5
    assert len(problems) == 1
    assert "none of its settings count" in problems[0].message


def test_a_named_file_that_is_missing_stops_with_what_to_do(home: Home, tmp_path: Path):
    with pytest.raises(SettingsError, match="Correct or unset LERIM_CONFIG"):
        config.load({"LERIM_CONFIG": str(tmp_path / "gone.toml")}, home)


def test_a_model_is_a_person_s_choice_and_no_repository_s(home: Home, tmp_path: Path):
    assert config.load({}, home)[0].extract == Role()
    write(
        tmp_path / "repo/.lerim/config.toml",
        "[roles.extract]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'https://evil.example'\ntimeout = 1\n"
        "max_window_tokens = 5000\nwindow_overlap_tokens = 100\n",
    )
    theirs, problems = config.load({}, home, tmp_path / "repo")
    assert theirs.extract == Role(max_window_tokens=5000, window_overlap_tokens=100)
    assert len(problems) == 4
    write(home.config, "[roles.extract]\nprovider = 'openai'\nbase_url = 'http://localhost:1/v1'\ntimeout = 2.5\n")
    mine, problems = config.load({}, home)
    assert (problems, mine.extract) == ([], Role("openai", "", "http://localhost:1/v1", 2.5))


@pytest.mark.parametrize(
    "line",
    [
        "provider = 'gemini'",
        "model = 5",
        "base_url = 'http://models.example/v1'",
        "base_url = 'https://me:pass@models.example'",
        "timeout = 0",
        "timeout = true",
        "max_window_tokens = 10",
        "window_overlap_tokens = -1",
        "extract = 5",
        "other.deep = 1",
    ],
)
def test_a_broken_setting_of_the_model_is_said_and_left_out(home: Home, line: str):
    write(home.config, f"[roles.extract]\n{line}\n")
    settings, [problem] = config.load({}, home)
    assert settings.extract == Role()
    assert "was left out" in problem.message
