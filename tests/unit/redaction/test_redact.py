import pytest

from lerim.redaction.private_blocks import remove_private_blocks
from lerim.redaction.redact import redact_secrets

# put together here so that no scanner takes this file for a leak
A, D = "abcdefghijklmnopqrstuvwxyz", "0123456789"
UUID = "550e8400-e29b-41d4-a716-446655440000"
HEX = "3f786850e387550fdab836ed7e6dc881de23001b"
SECRETS = [
    ("AKIA" + "IOSFODNN7EXAMQLE", "aws-access-key"),
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
    ("123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw9", "telegram-token"),
    ("MTk4NjIyNDgzNDcxOTI1MjQ4." + "Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs1a2", "discord-token"),
    ("key-" + "0123456789abcdef" * 2, "mailgun-key"),
    ("figd_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0", "figma-token"),
    ("secret_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0uvw", "notion-token"),
    ("ntn_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0uvwxyz", "notion-token"),
    ("SK" + "0123456789abcdef" * 2, "twilio-key"),
    ("SG." + "a1B2c3D4e5F6g7H8i9J0k1" + ".a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0uvw", "sendgrid-key"),
    ("hf_" + A + "ABCDEFGH", "huggingface-token"),
    ("dop_v1_" + "0123456789abcdef" * 4, "digitalocean-token"),
    ("lin_api_" + A + D + "ABCD", "linear-key"),
    ("<private>the new office is in Ghent</private>", "private"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(secret: str, kind: str) -> None:
    found = redact_secrets(f"before {secret} after" if kind != "private-key" else f"before {secret}")
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
        ("DB_PASSWORD: swordfishy", "DB_PASSWORD: [redacted:password]"),
        ("password=correcthorsebattery", "password=[redacted:password]"),
        ("password: 12345678", "password: [redacted:password]"),
        ("password: swordfishy\nuser: kim", "password: [redacted:password]\nuser: kim"),
        ("password: 'swordfishy'", "password: '[redacted:password]'"),
        ('os.environ["PASSWORD"] = "swordfishy"', 'os.environ["PASSWORD"] = "[redacted:password]"'),
        ('password "swordfishy"', 'password "[redacted:password]"'),
        ("CREATE USER kim WITH PASSWORD 'swordfishy';", "CREATE USER kim WITH PASSWORD '[redacted:password]';"),
        ("<password>swordfishy</password>", "<password>[redacted:password]</password>"),
        ("PASS=swordfishy ./run", "PASS=[redacted:password] ./run"),
        ("SMTP_PASS: swordfishy", "SMTP_PASS: [redacted:password]"),
        ('smtpPass: "swordfishy"', 'smtpPass: "[redacted:password]"'),
        ("export DB_PASSWORD=correct_horse", "export DB_PASSWORD=[redacted:password]"),
        (
            "machine example.org login kim password swordfishy",
            "machine example.org login kim password [redacted:password]",
        ),
        (f"API_TOKEN={UUID}", "API_TOKEN=[redacted:token]"),
        (f"HEROKU_API_KEY={UUID}", "HEROKU_API_KEY=[redacted:api-key]"),
        (f"//registry.example.org/:_authToken={UUID}", "//registry.example.org/:_authToken=[redacted:token]"),
        ("client_secret: 8Q~abcD3fGh.IjKl-MnO_p", "client_secret: [redacted:secret]"),
        ('"client_secret": "abc8Q~Zx3dE.fG7h_iJ-kL9mN0pQrStUvWx"', '"client_secret": "[redacted:azure-client-secret]"'),
        ("postgres://app:p/Qx-W0rd9@host/db", "postgres://app:[redacted:url-password]@host/db"),
        ("postgres://app:p@ss@w0rd@host:5432/db", "postgres://app:[redacted:url-password]@host:5432/db"),
        ("redis://:p@ssw0rd#x@host/0", "redis://:[redacted:url-password]@host/0"),
        ("https://kim:swordfishy@host/a/@scope/b", "https://kim:[redacted:url-password]@host/a/@scope/b"),
        ("mysql -u root -pS3cret shop", "mysql -u root -p[redacted:password] shop"),
        ("mysqldump -p'S3 cret' shop", "mysqldump -p'[redacted:password]' shop"),
        ("curl -u kim:swordfishy https://example.org", "curl -u kim:[redacted:password] https://example.org"),
        ("curl -s --user 'kim:sword fishy' https://a.b", "curl -s --user 'kim:[redacted:password]' https://a.b"),
        ("sshpass -p swordfishy ssh kim@host", "sshpass -p [redacted:password] ssh kim@host"),
        ("redis-cli -h db -a swordfishy ping", "redis-cli -h db -a [redacted:password] ping"),
        ("Authorization: token " + HEX, "Authorization: token [redacted:authorization]"),
        ("Authorization: token " + "a1b2" * 10, "Authorization: token [redacted:authorization]"),
        ("password: correct-horse-battery", "password: [redacted:password]"),
        ("Authorization: " + HEX, "Authorization: [redacted:authorization]"),
        (r"{\"password\": \"swordfishy\"}", r"{\"password\": \"[redacted:password]\"}"),
        (r"{\"token\": \"a1b2c3d4e5f6g7h8\", \"a\": 1}", r"{\"token\": \"[redacted:token]\", \"a\": 1}"),
        ("Cookie: session=a1b2c3d4e5; theme=dark", "Cookie: session=[redacted:cookie]; theme=dark"),
        ("Set-Cookie: sid=s%3Aa1b2c3; Path=/; HttpOnly", "Set-Cookie: sid=[redacted:cookie]; Path=/; HttpOnly"),
        ("curl -H 'Cookie: a=1; sid=a1b2c3d4e5'", "curl -H 'Cookie: a=1; sid=[redacted:cookie]'"),
        ("https://a.b/x?key=a1b2c3d4e5f6&z=1", "https://a.b/x?key=[redacted:url-key]&z=1"),
        ("https://a.b/x?z=1&token=a1b2c3d4e5f6", "https://a.b/x?z=1&token=[redacted:token]"),
        (
            "https://a.blob.core.windows.net/c?sv=2022-11-02&se=2027-01-01&sig=aB3%2Fd5E7g9%2BhJ1k%3D",
            "https://a.blob.core.windows.net/c?sv=2022-11-02&se=2027-01-01&sig=[redacted:url-key]",
        ),
        (
            '{"private_key": "-----BEGIN PRIVATE '
            + r'KEY-----\nMIIEvQ1b\nAbCd9=\n-----END PRIVATE KEY-----\n", "a": 1}',
            r'{"private_key": "[redacted:private-key]\n", "a": 1}',
        ),
    ],
)
def test_a_value_is_cut_where_its_name_says_what_it_is(text: str, clean: str) -> None:
    assert redact_secrets(text).text == clean


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
        "http://localhost:8080/@scope/pkg and http://localhost:3000?to=a@b.c",
        "postgres://user:password@localhost/db",
        "password: process.env.DB_PASSWORD",
        "password=os.environ.get('PASSWORD')",
        "password = getpass()",
        "password: null, token: undefined",
        "password: true",
        "password=",
        "password: ''",
        "password: required",
        "password: Optional[str] = None",
        "password: SecretStr",
        "password: PasswordField",
        "password=new_password, user=user",
        "password: z.string().min(8)",
        "password = user_input",
        "connect(user=user, password=pw)",
        "password: changeme",
        "password: <your-password>",
        "PASSWORD=${DB_PASSWORD}",
        "PASSWORD=$DB_PASSWORD",
        "password: must hold eight letters",
        "max_password_length: 128",
        "password_hash: bcrypt",
        "the password is required",
        "the password is wrong!",
        "123 passed: 4 failed, pass: 120, passing: 55555",
        "PASS: test_store",
        "bypass=everything",
        "PWD=/home/kim/shop",
        "mkdir -p build && mysql -u root -p shop",
        "docker run mysql -p 3306:3306 -p3307:3307",
        "git push -u origin:main",
        "document.cookie",
        "cookie: theme=dark; Path=/",
        "https://a.b/x?key=name&sort=key",
        "Authorization: token <your-token>",
        "the token type is bearer authentication",
        "key-value-store, key-0123",
        "SKU SKIP SK1234",
        "12:30:00 2026-07-01T10:00:00Z",
        'see password "field" below',
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_secrets(text).text == text


def test_spans_say_where_the_secret_stood() -> None:
    text = "x " + SECRETS[1][0]
    found = redact_secrets(text)
    assert [(span.start, span.end) for span in found.spans] == [(2, len(text))]
    assert redact_secrets(found.text).text == found.text


HIDDEN = ["\u200b", "\u2060", "\u202e", "\U000e0041", "\x1b[31m", "\u00ad\ufeff"]


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("at", [0, 2, 12, 40])
def test_characters_that_do_not_show_hide_no_secret(hidden: str, at: int) -> None:
    token = SECRETS[1][0]
    found = redact_secrets(f"é\u200b before {token[:at]}{hidden}{token[at:]} after")
    assert found.text in (
        "é\u200b before [redacted:github-token] after",
        f"é\u200b before {hidden}[redacted:github-token] after",
        f"é\u200b before [redacted:github-token]{hidden} after",
    )
    assert found.count == 1


@pytest.mark.parametrize("hidden", HIDDEN)
def test_characters_that_do_not_show_hide_no_name_of_a_secret(hidden: str) -> None:
    assert "swordfishy" not in redact_secrets(f"pass{hidden}word{hidden}: swordfishy").text


@pytest.mark.parametrize("glue", ["0", "a", "_", "="])
def test_a_token_glued_to_other_text_is_cut_out(glue: str) -> None:
    assert "ghp_" not in redact_secrets(f"{glue}ghp_{'a1' * 18}").text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>x</private> b", "a \n\n b"),
        ("a <PRIVATE>x", "a \n\n"),
        ("a <private>x <private>y</private> z</private> b", "a \n\n b"),
        ("a <private>" + "x" * 9000 + " always use uv</private> b", "a \n\n b"),
        ("no </private> here", "no </private> here"),
    ],
)
def test_private_blocks_are_left_out_whole(text: str, left: str) -> None:
    assert remove_private_blocks(text) == left
