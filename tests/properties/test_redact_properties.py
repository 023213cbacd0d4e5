from hypothesis import example, given
from hypothesis import strategies as st

from lerim.redaction.hidden import find_flags, remove_orders
from lerim.redaction.redact import redact_secrets

TOKENS = st.sampled_from(
    ["ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789", "AKIA" + "IOSFODNN7EXAMQLE", "sk_live_" + "a1B2c3D4e5F6g7H8i9"]
)
PIECES = st.sampled_from(
    ["password = ", "secret: ", '"', "'", "token=", "<private>", "</private>", "://a:", "@", "Bearer ",
     "-----BEGIN PRIVATE KEY-----",
     "[redacted:", "]", "eyJ", "?key=", "&sig=", "Cookie: a=", "; ", "PASS=", "\u200b", "\x1b[0m", '\\"',
     "curl -u a:", "mysql -p", "login a password ", "swordfishy", "12345678", "a1B2c3D4e5F6", "<password>", "</",
     "Authorization: ", "sk-", "İ", "\n", " "]
)  # fmt: skip


@given(st.lists(st.one_of(st.text(max_size=20), PIECES, TOKENS), max_size=12).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact_secrets(text).text
    assert redact_secrets(once).text == once


@example("", "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789", "...")
@given(st.text(alphabet=" \n.,;()<>é总", max_size=40), TOKENS, st.text(alphabet=" \n.,;()<>é总", max_size=40))
def test_a_token_between_anything_never_survives(before: str, token: str, after: str) -> None:
    found = redact_secrets(f"{before}{token}{after}")
    assert token not in found.text
    assert found.count >= 1


@given(TOKENS, st.lists(st.tuples(st.integers(0, 30), st.sampled_from("\u200b\u202e\U000e0041\x00\u2063")), max_size=5))
def test_a_token_in_pieces_is_found_and_what_is_around_it_stays(token: str, cuts: list[tuple[int, str]]) -> None:
    whole = token
    for at, hidden in cuts:
        whole = whole[:at] + hidden + whole[at:]
    clean = redact_secrets(f"before {whole} after").text
    assert clean.startswith("before ") and clean.endswith(" after")
    assert "[redacted:" in clean
    assert not any(token[at : at + 6] in clean for at in range(len(token) - 6))


@given(st.text(max_size=300))
def test_the_spans_lie_in_the_text_in_order(text: str) -> None:
    last = 0
    for span in redact_secrets(text).spans:
        assert last <= span.start < span.end <= len(text)
        last = span.end


LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = st.sampled_from(["token", "password", "secret", "auth", "types", "strength", "gen", "jjwt", "api", "core"])
PACKAGES = st.lists(WORDS, min_size=1, max_size=4).map("-".join)
SCOPED = st.one_of(PACKAGES, st.tuples(PACKAGES, PACKAGES).map(lambda both: f"@{both[0]}/{both[1]}"))
VERSIONS = st.lists(st.integers(0, 99).map(str), min_size=3, max_size=3).map(".".join)
LOCK_LINES = st.sampled_from(
    [
        *("{name}: ^{version}", '"{name}": "~{version}",', "{name}: '>={version}'", '"{name}": "workspace:*"'),
        *("{name}: 'npm:{name}@{version}'", "{name}: link:../{name}", "{name}: workspace:^{version}"),
        *("'{name}@{version}':", '"resolved": "https://packages.example.org/{name}/-/{name}-{version}.tgz"'),
        *("implementation 'io.jsonwebtoken:{plain}:{version}'", "{name}: {version}-beta.1"),
    ]
)
VALUES = st.lists(
    st.tuples(st.sampled_from(LETTERS), st.sampled_from(LETTERS.upper()), st.sampled_from("23456789")),
    min_size=5,
    max_size=8,
    unique_by=(lambda one: one[0], lambda one: one[1]),
).map(lambda parts: "".join(map("".join, parts)))
"""Values as generators of passwords make them."""
HIDING_PLACES = st.sampled_from(
    [
        *("^{value}", "~{value}", "npm:{value}@1.2.3", "npm:core@{value}", "link:../{value}", "link:../a/{value}"),
        *("{value}:1.2.3", "{value}@1.2.3", "lib/{value}", "lib/{value}.go", "lib/{value}/a.rs", "^1.2.3-{value}"),
    ]
)


@given(LOCK_LINES, SCOPED, PACKAGES, VERSIONS)
def test_a_package_named_after_a_secret_keeps_its_version_in_a_lock_file(
    line: str, name: str, plain: str, version: str
) -> None:
    text = line.format(name=name, plain=plain, version=version)
    assert redact_secrets(text).text == text


@given(st.sampled_from(["Token = ", "token: ", "src/a.go:12:\tToken = "]), st.lists(PACKAGES, min_size=1, max_size=5))
def test_a_path_to_a_source_file_is_no_secret(before: str, folders: list[str]) -> None:
    text = f"{before}{'/'.join(folders)}/token_scanner.go:14"
    assert redact_secrets(text).text == text


@given(st.sampled_from(["password: ", "Token = ", '"auth-token": "']), HIDING_PLACES, VALUES)
def test_a_value_that_only_looks_like_a_version_or_a_path_does_not_survive(name: str, place: str, value: str) -> None:
    assert value not in redact_secrets(f"{name}{place.format(value=value)}").text


@given(
    st.sampled_from(["DB_PASSWORD=", "export API_TOKEN='", 'SECRET_KEY: "', "$env:AUTH_TOKEN = '"]),
    st.sampled_from(["{word}@1.20.3", "{word}:1.20.3", "link:../{word}", "lib/{word}.go"]),
    st.sampled_from(["horse8301", "blue4tiger", "winter5242"]),
)
def test_an_environment_variable_named_after_a_secret_holds_no_package(name: str, place: str, word: str) -> None:
    value = place.format(word=word)
    assert value not in redact_secrets(f"{name}{value}").text


@given(
    st.sampled_from(["password: ", '"password": "', "Token = "]),
    st.sampled_from(["{word}@1.2.3", "link:../{word}", "a/{word}.rs", "npm:{word}@1.2.3", "{word}/Abc.c"]),
    st.sampled_from(["name4word", "word2024", "horse8301", "Ab3dEf9h"]),
)
def test_what_may_be_a_package_with_a_digit_in_its_name_is_taken_for_a_secret(name: str, place: str, word: str) -> None:
    assert word not in redact_secrets(f"{name}{place.format(word=word)}").text


ORDERS = st.sampled_from(
    [
        *("ignore", "disregard", "all", "previous", "instructions", "system", "prompt", "you are now"),
        *("new instructions:", "<system>", "</user>", "as an ai", "do not tell", "the user", "use uv", "not pip"),
        *(".", ";", "\n", "\n\n", "! "),
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(ORDERS, max_size=30).map(" ".join)))
def test_what_is_left_gives_no_orders_and_a_text_without_any_stays_as_it_is(text: str) -> None:
    left = remove_orders(text)
    assert "commands-an-agent" not in find_flags(left)
    if "commands-an-agent" not in find_flags(text):
        assert left == text
