from hypothesis import given
from hypothesis import strategies as st

from lerim.extraction.redact import redact

TOKENS = st.sampled_from(
    ["ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789", "AKIA" + "IOSFODNN7EXAMPLE", "sk_live_" + "a1B2c3D4e5F6g7H8i9"]
)
PIECES = st.sampled_from(
    ["password = ", "secret: ", '"', "'", "token=", "<private>", "</private>", "://a:", "@", "Bearer ",
     "-----BEGIN PRIVATE KEY-----",
     "[redacted:", "]", "eyJ", "sk-", "İ", "\n", " "]
)  # fmt: skip


@given(st.lists(st.one_of(st.text(max_size=20), PIECES, TOKENS), max_size=12).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(st.text(alphabet=" \n.,;()<>é总", max_size=40), TOKENS, st.text(alphabet=" \n.,;()<>é总", max_size=40))
def test_a_token_between_anything_never_survives(before: str, token: str, after: str) -> None:
    found = redact(f"{before}{token}{after}")
    assert token not in found.text
    assert found.count >= 1


@given(st.text(max_size=300))
def test_the_spans_lie_in_the_text_in_order(text: str) -> None:
    last = 0
    for span in redact(text).spans:
        assert last <= span.start < span.end <= len(text)
        last = span.end
