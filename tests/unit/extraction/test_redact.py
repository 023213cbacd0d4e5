import pytest

from lerim.extraction.redact import redact

# put together here so that no scanner takes this file for a leak
A, D = "abcdefghijklmnopqrstuvwxyz", "0123456789"
SECRETS = [
    ("AKIA" + "IOSFODNN7EXAMPLE", "aws-access-key"),
    ("ghp_" + A + D, "github-token"),
    ("github_pat_" + "11ABCDEFG0" + A, "github-token"),
    ("glpat-" + "x1Y2z3A4b5C6d7E8f9G0", "gitlab-token"),
    ("xoxb-" + "123456789012-abcdefABCDEF", "slack-token"),
    ("AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "google-api-key"),
    ("sk-ant-" + "api03-a1B2c3D4e5F6g7H8i9J0", "anthropic-key"),
    ("sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2", "openai-key"),
    ("sk_live_" + "a1B2c3D4e5F6g7H8", "stripe-key"),
    ("npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "npm-token"),
    ("pypi-" + "AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LWFiY2QtZWZnaC1pamts", "pypi-token"),
    ("eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "jwt"),
    ("-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7\n" * 3 + "-----END RSA PRIVATE KEY-----", "private-key"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXkt" * 4, "private-key"),
    ("<private>the new office is in Ghent</private>", "private"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(secret: str, kind: str) -> None:
    found = redact(f"before {secret} after" if kind != "private-key" else f"before {secret}")
    assert found.text.startswith(f"before [redacted:{kind}]")
    assert found.count == 1
    assert secret[10:] not in found.text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password = hunter2", "password = [redacted:password]"),
        ('"api_key": "a1b2c3d4e5f6g7h8"', '"api_key": "[redacted:api-key]"'),
        ("postgres://shop:hunter2@db:5432/shop", "postgres://shop:[redacted:url-password]@db:5432/shop"),
        ("Authorization: Basic a2ltOmh1bnRlcjI=", "Authorization: Basic [redacted:authorization]"),
        (
            "curl -H 'Authorization: Bearer abc123def456ghi789'",
            "curl -H 'Authorization: Bearer [redacted:authorization]'",
        ),
        ("mysql --password hunter2!", "mysql --password [redacted:password]"),
        ("the password is hunter22", "the password is [redacted:password]"),
        ("Server=db;Password=Tr0ub4dor;", "Server=db;Password=[redacted:password];"),
    ],
)
def test_a_value_is_cut_where_its_name_says_what_it_is(text: str, clean: str) -> None:
    assert redact(text).text == clean


@pytest.mark.parametrize(
    "text",
    [
        ".sk-fading-circle-container { color: red }",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "API_KEY=<your-key>",
        "token: ${TOKEN}",
        "password=os.environ['PASSWORD']",
        "secret: REDACTED",
        "const token = getToken();",
        "def login(password: str, token: str | None = None)",
        'type="password" placeholder="Your password"',
        "input_tokens: 12345678",
        "task-runner-for-the-whole-monorepo-2024",
        "npm_config_registry",
        "sha512-8ByCeDXvMPfDcm4mlyY2JHSvGPnJhUEZnE2wN2WnXFqxp2JQ==",
        "the token is expired",
        "password: string",
        "http://localhost:8080/a@b",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


def test_spans_say_where_the_secret_stood() -> None:
    text = "x " + SECRETS[1][0]
    found = redact(text)
    assert [(span.start, span.end) for span in found.spans] == [(2, len(text))]
    assert redact(found.text).text == found.text
