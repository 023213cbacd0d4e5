"""Which project a folder belongs to: decided by git's own files, never by what a folder claims alone."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.errors import ProjectError
from lerim.paths import Home
from lerim.project import project, registry
from lerim.project.commits import History
from lerim.project.git import find_word, find_words
from lerim.project.project import FolderOwners, locate_project
from rights import bound


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "lerim-home")


def located(path, home):
    found = locate_project(path, home)
    assert found is not None
    return found


def key(path, home):
    return located(path, home).key


def test_a_folder_deep_in_a_repository_belongs_to_it_and_nothing_is_made(repo, home, tmp_path):
    before = set(repo.rglob("*"))
    found = located(repo / "src", home)
    assert (found.root, found.main_worktree, found.common_dir, found.name) == (repo, repo, repo / ".git", "repo")
    assert len(found.key) == 16
    assert found.memory_dir == repo / ".lerim" / "memory"
    assert found.state_dir(home) == repo / ".lerim"
    assert set(repo.rglob("*")) == before and not home.root.exists()
    assert locate_project(tmp_path, home) is None


def test_all_worktrees_are_one_project_whose_state_lies_in_the_main_one(repo, home, git, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "first"), "-b", "side")
    git(repo, "worktree", "move", str(tmp_path / "first"), str(tmp_path / "side"))
    side = located(tmp_path / "side" / "src", home)
    assert side.key == key(repo, home)
    assert (side.root, side.main_worktree) == ((tmp_path / "side").resolve(), repo)
    assert side.memory_dir == side.root / ".lerim" / "memory"
    assert side.state_dir(home) == repo / ".lerim"


def points_at_its_worktree(thief, repo, git):
    git(repo, "worktree", "add", "-q", str(thief.parent / "side"))
    (thief / ".git").write_text((thief.parent / "side" / ".git").read_text())


def is_a_link_to_it(thief, repo, git):
    (thief / ".git").symlink_to(repo / ".git")


def names_its_common_dir(thief, repo, git):
    (thief / "dir").mkdir()
    (thief / ".git").write_text("gitdir: dir\n")
    (thief / "dir" / "HEAD").write_text("ref: refs/heads/main\n")
    (thief / "dir" / "commondir").write_text(str(repo / ".git") + "\n")
    (thief / "dir" / "gitdir").write_text(str(thief / ".git") + "\n")


def points_at_it(claim):
    return lambda thief, repo, git: (thief / ".git").write_text(claim.format(git=repo / ".git") + "\n")


CLAIMS = [points_at_it("gitdir: {git}"), points_at_it("gitdir: ../repo/.git")]


@pytest.mark.parametrize("claim", [points_at_its_worktree, is_a_link_to_it, names_its_common_dir, *CLAIMS])
def test_a_folder_that_claims_to_be_another_repository_does_not_become_it(repo, home, git, tmp_path, claim):
    thief = tmp_path / "thief"
    thief.mkdir()
    claim(thief, repo, git)
    found = located(thief, home)
    assert found.key != key(repo, home) and found.root == thief


def test_a_nested_repository_is_its_own_project(repo, home, git):
    (repo / "vendor" / "lib").mkdir(parents=True)
    git(repo / "vendor" / "lib", "init", "-q")
    assert key(repo / "vendor" / "lib", home) != key(repo, home)
    assert key(repo / "vendor", home) == key(repo, home)


def test_the_worktrees_of_a_bare_repository_are_one_project_without_a_main_one(repo, home, git, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(repo), "store.git")
    for name in ("one", "two"):
        git(tmp_path / "store.git", "worktree", "add", "-q", str(tmp_path / name), "-b", name)
    one, two = located(tmp_path / "one", home), located(tmp_path / "two", home)
    assert one.key == two.key == key(tmp_path / "store.git", home)
    assert one.main_worktree is None
    assert one.name == "store"
    assert one.state_dir(home) == home.project(one.key)


def test_a_bare_folder_beside_its_worktrees_is_one_project_with_them(repo, home, git, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    git(place, "clone", "-q", "--bare", str(repo), ".bare")
    (place / ".git").write_text("gitdir: ./.bare\n")
    git(place, "worktree", "add", "-q", "feature")
    before = located(place, home)
    git(place / "feature", "sparse-checkout", "set", "src")  # git then keeps `core.bare` in another file
    for folder in (place, place / "feature"):
        found = located(folder, home)
        assert (found.key, found.main_worktree, found.name) == (before.key, None, "place")


def test_a_git_folder_elsewhere_is_one_project_with_its_worktrees_once_it_names_its_folder(repo, home, git, tmp_path):
    place, store, side = tmp_path / "place", tmp_path / "store", tmp_path / "side"
    git(tmp_path, "clone", "-q", "--separate-git-dir", str(store), str(repo), str(place))
    git(place, "worktree", "add", "-q", str(side))
    assert key(place, home) != key(side, home), "nothing in the git folder says where its files are"
    git(place, "config", "core.worktree", str(place))
    found, linked = located(place, home), located(side, home)
    assert (found.key, found.common_dir, found.main_worktree) == (linked.key, store, place)
    assert linked.main_worktree == place


def test_a_submodule_stays_the_same_project_when_only_a_part_of_it_is_checked_out(repo, home, git, tmp_path):
    git(tmp_path, "init", "-q", "outer")
    git(tmp_path / "outer", "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(repo), "inner")
    before = key(tmp_path / "outer" / "inner", home)
    git(tmp_path / "outer" / "inner", "sparse-checkout", "set", "src")  # git then keeps `core.worktree` in another file
    assert key(tmp_path / "outer" / "inner", home) == before


def test_a_link_to_a_repository_is_the_same_and_a_git_folder_that_is_none_is_passed_over(repo, home, tmp_path):
    (repo / "src" / ".git").mkdir()
    (tmp_path / "link").symlink_to(repo)
    assert key(repo / "src", home) == key(tmp_path / "link" / "src", home) == key(repo, home)


def test_symlink_loops_and_impossible_paths_are_no_project(tmp_path, home):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert locate_project(tmp_path / "a" / "x", home) is None
    assert locate_project(Path("/nul\0byte"), home) is None
    assert locate_project(Path("/" + "x" * 5000), home) is None


def test_a_git_file_that_loops_or_is_huge_or_binary_does_no_harm(tmp_path, home):
    for name, content in {"loop": b"gitdir: .git", "huge": b"gitdir: " + b"x" * 10**6, "binary": b"\xff\0\xfe"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_bytes(content)
        found = locate_project(tmp_path / name, home)
        assert found is None or found.root == tmp_path / name


def test_an_inner_repository_that_may_not_be_read_is_not_the_outer_one_s(repo, home, git):
    inner = repo / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    inner.chmod(0)
    try:
        with bound():
            assert locate_project(inner / "x", home) is None
    finally:
        inner.chmod(0o755)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("https://me:token@example.com/a/b.git", "https://example.com/a/b.git"),
        ("https://token@example.com/a/b.git?key=1#x", "https://example.com/a/b.git"),
        ("ssh://git:secret@example.com:22/a.git", "ssh://git@example.com:22/a.git"),
        ("git@example.com:a/b.git", "git@example.com:a/b.git"),
        ("me:secret@example.com:a/b.git", "me@example.com:a/b.git"),
        ("../beside", "../beside"),
        ("C:\\work\\a.git", "C:\\work\\a.git"),
        ("C:\\work\\a\\", "C:\\work\\a\\"),
        ("https://[broken", ""),
    ],
)
def test_a_remote_is_kept_without_credentials(repo, home, git, written, kept):
    git(repo, "config", "remote.origin.url", written)
    found = located(repo, home)
    assert found.remote == kept


def test_a_config_with_broken_lines_still_gives_the_remote(repo, home):
    text = (
        '[core\n[remote "other"]\n url = x\n= y\n[remote "origin"] ; c\n\turl = "https://e.com/a b" # c\n[broken "\n\0'
    )
    (repo / ".git" / "config").write_text(text)
    found = located(repo, home)
    assert found.remote == "https://e.com/a b"


def test_an_added_project_keeps_its_aliases_and_is_readable_by_its_owner_alone(repo, home):
    found = located(repo, home)
    project.add_project(project.add_alias(found, "/old/place"), home)
    project.add_project(found, home)
    again = located(repo, home)
    assert again.aliases == ("/old/place",)
    kept = home.project(found.key) / "project.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert home.root.stat().st_mode & 0o777 == 0o700
    assert project.list_projects(home) == ([again], [])
    assert registry.remove_entry(home, again.key)
    assert not registry.remove_entry(home, again.key)
    assert project.list_projects(home) == ([], [])


def test_one_broken_entry_hides_no_other_project(repo, home):
    found = located(repo, home)
    project.add_project(found, home)
    broken = home.project("0" * 16)
    broken.mkdir()
    (broken / "project.json").write_text("{")
    projects, problems = project.list_projects(home)
    assert [one.key for one in projects] == [found.key]
    assert [one.code for one in problems] == ["registry-broken"]
    (home.project(found.key) / "project.json").write_text("[]")
    assert locate_project(repo, home) == found


def test_a_person_s_settings_of_git_change_nothing_of_what_is_read(repo, git, monkeypatch):
    (repo / "src" / "ledger.py").write_text("amount = 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Zähle Beträge")
    odd = {"color.ui": "always", "color.grep": "always", "log.showRoot": "false", "i18n.logOutputEncoding": "latin1"}
    odd |= {"grep.lineNumber": "true", "grep.column": "true"}

    def read():
        commits = History(repo, os.environ).list_commits(
            datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
        )
        found = find_word(repo, "amount", os.environ), find_words(repo, ["amount"], os.environ)
        return [(one.subject, one.files) for one in commits], *found

    before = read()
    assert before[0][0][1] and before[0][-1][0] == "Zähle Beträge" and before[1] == ["src/ledger.py"]
    assert before[2] == {"amount": ["src/ledger.py"]}
    for name, value in odd.items():
        git(repo, "config", name, value)
    assert read() == before


def test_many_words_are_found_together_where_each_is_found_alone(repo, git):
    (repo / "src" / "one two.py").write_text("sum_up(amount), amounts, sum_up_all\n")
    (repo / "src" / "Zähler.py").write_text("amount = größe = 1\n")
    git(repo, "add", ".")
    words = [
        "amount",
        "amounts",
        "sum_up",
        "sum_up_all",
        "größe",
        "gr",
        "nowhere",
        "a.b",
        *(f"word{n}" for n in range(60)),
    ]
    found = find_words(repo, words, os.environ)
    assert found == {word: find_word(repo, word, os.environ) for word in words}
    assert found["amount"] == ["src/Zähler.py", "src/one two.py"]
    assert found["größe"] == ["src/Zähler.py"]


@pytest.mark.parametrize("alias", ["", "relative/place", "/", "C:\\", "."])
def test_an_alias_must_be_an_absolute_folder_and_no_whole_disk(repo, home, alias):
    found = located(repo, home)
    with pytest.raises(ProjectError):
        project.add_project(project.add_alias(found, alias), home)


class TestOwners:
    def owners(self, repo, home, *aliases, **options):
        found = located(repo, home)
        for alias in aliases:
            found = project.add_project(project.add_alias(found, alias), home)
        return found.key, FolderOwners([found], **options)

    def test_a_working_folder_that_is_there_is_owned_by_its_innermost_repository(self, repo, home, git):
        inner = repo / "inner"
        inner.mkdir()
        git(inner, "init", "-q")
        own, owners = self.owners(repo, home)
        assert owners.find_owner(str(repo / "src")) == own
        assert owners.find_owner(str(inner)) not in {"", own}

    def test_what_ran_in_the_lerim_home_is_nobody_s_though_a_repository_lies_around_it(self, repo, home, tmp_path):
        inner = Home(repo / "dotfiles" / ".lerim")
        inner.root.mkdir(parents=True)
        link = tmp_path / "link"
        link.symlink_to(inner.root, target_is_directory=True)
        found = project.add_alias(locate_project(repo, home), str(inner.root))
        owners = FolderOwners([found], home=inner)
        for below in (inner.root, inner.root / "projects" / "gone", link):
            assert owners.find_owner(str(below)) == ""
        assert owners.find_owner(str(inner.root.parent)) == found.key
        linked = FolderOwners([found], home=Home(link))
        assert [linked.find_owner(str(path)) for path in (inner.root, link / "x")] == ["", ""]

    def test_a_vanished_folder_is_owned_by_the_repository_around_it(self, repo, home):
        own, owners = self.owners(repo, home)
        assert owners.find_owner(str(repo / ".worktrees" / "gone" / "src")) == own
        assert owners.find_owner(str(repo.parent / "gone")) == ""

    def test_an_alias_owns_its_folder_and_what_was_below_it_by_whole_components(self, repo, home):
        own, owners = self.owners(repo, home, "/old/place")
        assert owners.find_owner("/old/place") == own
        assert owners.find_owner("/old/place/src/../lib") == own
        assert owners.find_owner("/old/place-two") == ""
        assert owners.find_owner("/old/place/../other") == ""
        assert owners.find_owner("/OLD/place") == ""

    def test_windows_folders_match_without_case_and_with_either_slash(self, repo, home):
        own, owners = self.owners(repo, home, "C:\\Work\\App", "\\\\server\\share\\app")
        for cwd in ("c:\\work\\app", "C:/WORK/app/src", "C:\\Work\\.\\App\\lib\\..", "\\\\SERVER\\share\\App\\x"):
            assert owners.find_owner(cwd) == own
        for cwd in ("C:\\Work\\Apple", "D:\\Work\\App", "/C:/Work/App", "\\\\server\\share\\apple"):
            assert owners.find_owner(cwd) == ""

    def test_a_posix_folder_on_windows_is_owned_by_an_alias_only(self, repo, home):
        own, owners = self.owners(repo, home, "/workspaces/app", platform="win32")
        assert owners.find_owner("/workspaces/app/src") == own
        assert owners.find_owner(str(repo)) == ""

    def test_no_alias_takes_over_another_repository_that_is_there(self, repo, home, git, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        git(other, "init", "-q")
        own, owners = self.owners(repo, home, str(tmp_path))
        assert owners.find_owner(str(other)) == key(other, home)
        assert owners.find_owner(str(tmp_path / "gone")) == own

    def test_of_two_aliases_the_longer_one_decides(self, repo, home, git, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        git(other, "init", "-q")
        wide, narrow = located(repo, home), located(other, home)
        owners = FolderOwners([project.add_alias(wide, "/old"), project.add_alias(narrow, "/old/inner")])
        assert owners.find_owner("/old/inner/x") == narrow.key
        assert owners.find_owner("/old/x") == wide.key
