"""Secrets of many forms and text that merely looks like them, made up at run time: none of them stands in a file.

Every maker takes a source of chance and gives (text, secret): the text as it stands in a session, and the part of it
that must not stay. A look-alike's maker gives the text alone.
"""

from __future__ import annotations

import base64
import json
import string
import textwrap
from collections.abc import Callable
from random import Random

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URL = ALNUM + "-_"
B64 = ALNUM + "+/"
SYMBOLS = ALNUM + "!#%*+-?_"

Secret = tuple[str, str]


def some(chance: Random, size: int, alphabet: str = ALNUM) -> str:
    return "".join(chance.choice(alphabet) for _ in range(size))


def place(chance: Random, name: str, secret: str) -> str:
    """A known token where people and agents leave them."""
    return chance.choice(
        [
            f"export {name}={secret}",
            f'{name}="{secret}"\nPORT=8080',
            json.dumps({"env": {name: secret}, "retries": 3}),
            f"{name.lower()}: {secret}  # rotate me",
            f"I pasted the key {secret} into the settings, is that fine?",
            f"curl -s https://api.example.invalid/v1/items -H 'Authorization: Bearer {secret}'",
            f"const client = new Client({{ auth: '{secret}' }});",
            f"2026-03-01 12:00:01 ERROR request failed with {secret}, retrying",
            f"+    token = '{secret}'\n-    token = ''",
            f"docker run -e {name}={secret} -p 80:80 app:latest",
        ]
    )


def token(name: str, prefix: str, size: int, alphabet: str = ALNUM, end: str = "") -> Callable[[Random], Secret]:
    def make(chance: Random) -> Secret:
        secret = prefix + some(chance, size, alphabet) + end
        return place(chance, name, secret), secret

    return make


def named(names: str, size: int, alphabet: str = ALNUM) -> Callable[[Random], Secret]:
    """A value without a form of its own, known by the name it is given to."""

    def make(chance: Random) -> Secret:
        name, secret = chance.choice(names.split()), some(chance, size, alphabet)
        text = chance.choice(
            [f"export {name}={secret}", f'{name}="{secret}"', f"{name.lower()}: {secret}", json.dumps({name: secret})]
        )
        return text, secret

    return make


def pem(kind: str) -> Callable[[Random], Secret]:
    def make(chance: Random) -> Secret:
        body = "\n".join(textwrap.wrap(base64.b64encode(chance.randbytes(600)).decode(), 64))
        text = f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"
        return chance.choice([text, f"cat key\n{text}\n$ ", json.dumps({"private_key": text})]), body.split("\n")[2]

    return make


def address(scheme: str, user: str, host: str) -> Callable[[Random], Secret]:
    def make(chance: Random) -> Secret:
        secret = some(chance, chance.randint(10, 24))
        text = f"{scheme}://{user}:{secret}@{host}"
        return chance.choice([text, f"DATABASE_URL={text}", f"connecting to {text} failed", json.dumps([text])]), secret

    return make


def header(name: str, size: int, alphabet: str = ALNUM) -> Callable[[Random], Secret]:
    def make(chance: Random) -> Secret:
        secret = some(chance, size, alphabet)
        return chance.choice(
            [
                f"curl -H '{name}: {secret}' https://api.example.invalid",
                f"> {name}: {secret}\n> Accept: */*",
                f'headers = {{"{name}": "{secret}"}}',
            ]
        ), secret

    return make


def basic(chance: Random) -> Secret:
    secret = base64.b64encode(f"deploy:{some(chance, 20)}".encode()).decode()
    return f"Authorization: Basic {secret}\nHost: example.invalid", secret


def jwt(chance: Random) -> Secret:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head, body = part({"alg": "HS256", "typ": "JWT"}), part({"sub": some(chance, 12), "exp": chance.randrange(10**10)})
    secret = f"{head}.{body}.{some(chance, 43, URL)}"
    return place(chance, "SESSION_TOKEN", secret), secret


def webhook(chance: Random) -> Secret:
    secret = f"T{some(chance, 10, UPPER)}/B{some(chance, 10, UPPER)}/{some(chance, 24)}"
    return f"post it to https://hooks.slack.com/services/{secret} please", secret.rsplit("/", 1)[1]


def discord_webhook(chance: Random) -> Secret:
    secret = some(chance, 68, URL)
    return f"WEBHOOK=https://discord.com/api/webhooks/{chance.randrange(10**17, 10**18)}/{secret}", secret


def discord_bot(chance: Random) -> Secret:
    secret = f"M{some(chance, 23, URL)}.{some(chance, 6, URL)}.{some(chance, 38, URL)}"
    return place(chance, "DISCORD_TOKEN", secret), secret


def telegram(chance: Random) -> Secret:
    secret = f"{chance.randrange(10**8, 10**10)}:AA{some(chance, 33, URL)}"
    return place(chance, "TELEGRAM_BOT_TOKEN", secret), secret


def azure_storage(chance: Random) -> Secret:
    secret = base64.b64encode(chance.randbytes(64)).decode()
    start = "DefaultEndpointsProtocol=https;AccountName=shopdata;AccountKey="
    return f"{start}{secret};EndpointSuffix=core.windows.net", secret


def sas(chance: Random) -> Secret:
    secret = base64.b64encode(chance.randbytes(32)).decode().replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    return f"https://shop.blob.core.windows.net/a/b.txt?sv=2024-11-04&se=2026-01-01&sp=r&sig={secret}", secret


def cookie(chance: Random) -> Secret:
    secret = some(chance, 40)
    return f"Cookie: theme=dark; sessionid={secret}; lang=en", secret


def password_flag(chance: Random) -> Secret:
    secret = some(chance, 14, SYMBOLS)
    return chance.choice(
        [f"mysql -u root --password={secret} shop", f"curl -u deploy:{secret} https://example.invalid/upload"]
    ), secret


def netrc(chance: Random) -> Secret:
    secret = some(chance, 24)
    return f"machine api.example.invalid\n  login deploy\n  password {secret}\n", secret


def npmrc(chance: Random) -> Secret:
    secret = some(chance, 36, LOWER)
    return f"//npm.example.invalid/:_authToken={secret}\nsave-exact=true", secret


def github_fine(chance: Random) -> Secret:
    secret = f"github_pat_{some(chance, 22)}_{some(chance, 59)}"
    return place(chance, "GITHUB_TOKEN", secret), secret


def sendgrid(chance: Random) -> Secret:
    secret = f"SG.{some(chance, 22, URL)}.{some(chance, 43, URL)}"
    return place(chance, "SENDGRID_API_KEY", secret), secret


def slack(chance: Random) -> Secret:
    secret = f"xoxb-{chance.randrange(10**11, 10**12)}-{chance.randrange(10**12, 10**13)}-{some(chance, 24)}"
    return place(chance, "SLACK_BOT_TOKEN", secret), secret


def openai_old(chance: Random) -> Secret:
    secret = f"sk-{some(chance, 20)}T3BlbkFJ{some(chance, 20)}"
    return place(chance, "OPENAI_API_KEY", secret), secret


PASSWORD = "DB_PASSWORD ADMIN_PASSWORD SMTP_PASSWORD POSTGRES_PASSWORD MYSQL_ROOT_PASSWORD"

SECRETS: dict[str, Callable[[Random], Secret]] = {
    "AWS key id": token("AWS_ACCESS_KEY_ID", "AKIA", 16, string.ascii_uppercase + "234567"),
    "AWS session key id": token("AWS_ACCESS_KEY_ID", "ASIA", 16, string.ascii_uppercase + "234567"),
    "AWS secret": named("AWS_SECRET_ACCESS_KEY aws_secret_access_key", 40, B64),
    "GitHub classic": token("GITHUB_TOKEN", "ghp_", 36),
    "GitHub fine-grained": github_fine,
    "GitHub OAuth": token("GITHUB_TOKEN", "gho_", 36),
    "GitHub app": token("GITHUB_TOKEN", "ghs_", 36),
    "GitLab": token("GITLAB_TOKEN", "glpat-", 20, URL),
    "Slack bot": slack,
    "Slack webhook": webhook,
    "Discord webhook": discord_webhook,
    "Discord bot": discord_bot,
    "Telegram bot": telegram,
    "Stripe": token("STRIPE_KEY", "sk_live_", 24),
    "Stripe restricted": token("STRIPE_KEY", "rk_live_", 24),
    "OpenAI project": token("OPENAI_API_KEY", "sk-proj-", 120, URL),
    "OpenAI": openai_old,
    "Anthropic": token("ANTHROPIC_API_KEY", "sk-ant-api03-", 93, URL, "AA"),
    "OpenRouter": token("OPENROUTER_API_KEY", "sk-or-v1-", 64, HEX),
    "Google API": token("GOOGLE_API_KEY", "AIza", 35, URL),
    "Google OAuth client": token("GOOGLE_CLIENT_SECRET", "GOCSPX-", 28, URL),
    "npm": token("NPM_TOKEN", "npm_", 36),
    "PyPI": token("TWINE_PASSWORD", "pypi-AgEIcHlwaS5vcmc", 150, URL),
    "SendGrid": sendgrid,
    "Twilio": named("TWILIO_AUTH_TOKEN", 32, HEX),
    "Mailgun": token("MAILGUN_API_KEY", "key-", 32, HEX),
    "DigitalOcean": token("DO_TOKEN", "dop_v1_", 64, HEX),
    "Hugging Face": token("HF_TOKEN", "hf_", 34, string.ascii_letters),
    "Databricks": token("DATABRICKS_TOKEN", "dapi", 32, HEX),
    "Shopify": token("SHOPIFY_TOKEN", "shpat_", 32, HEX),
    "Linear": token("LINEAR_API_KEY", "lin_api_", 40),
    "Notion": token("NOTION_TOKEN", "ntn_", 46),
    "Doppler": token("DOPPLER_TOKEN", "dp.pt.", 43),
    "Supabase": token("SUPABASE_ACCESS_TOKEN", "sbp_", 40, HEX),
    "PlanetScale": token("PLANETSCALE_TOKEN", "pscale_tkn_", 43, URL),
    "Grafana": token("GRAFANA_TOKEN", "glsa_", 32, ALNUM, "_0a1b2c3d"),
    "New Relic": token("NEW_RELIC_API_KEY", "NRAK-", 27, UPPER),
    "Docker": token("DOCKER_TOKEN", "dckr_pat_", 27, URL),
    "RubyGems": token("GEM_HOST_API_KEY", "rubygems_", 48, HEX),
    "Groq": token("GROQ_API_KEY", "gsk_", 52),
    "Replicate": token("REPLICATE_API_TOKEN", "r8_", 37),
    "age key": token("SOPS_AGE_KEY", "AGE-SECRET-KEY-1", 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "Cloudflare": named("CLOUDFLARE_API_TOKEN CF_API_TOKEN", 40, URL),
    "Vercel": named("VERCEL_TOKEN", 24),
    "Azure client": named("AZURE_CLIENT_SECRET", 40, ALNUM + "~._-"),
    "Azure storage": azure_storage,
    "Azure shared access": sas,
    "JWT": jwt,
    "RSA key": pem("RSA PRIVATE KEY"),
    "OpenSSH key": pem("OPENSSH PRIVATE KEY"),
    "EC key": pem("EC PRIVATE KEY"),
    "PKCS8 key": pem("PRIVATE KEY"),
    "PGP key": pem("PGP PRIVATE KEY BLOCK"),
    "Postgres address": address("postgresql", "shop", "db.example.invalid:5432/shop"),
    "MongoDB address": address("mongodb+srv", "shop", "cluster0.example.invalid/shop"),
    "Redis address": address("redis", "", "cache.example.invalid:6379/0"),
    "AMQP address": address("amqp", "worker", "queue.example.invalid//"),
    "web address": address("https", "deploy", "git.example.invalid/shop.git"),
    "bearer header": lambda chance: (f"Authorization: Bearer {(one := some(chance, 40))}", one),
    "basic header": basic,
    "x-api-key header": header("X-Api-Key", 32),
    "cookie": cookie,
    "password flag": password_flag,
    "password name": named(PASSWORD, 16, ALNUM),
    "secret name": named("JWT_SECRET SESSION_SECRET CLIENT_SECRET SECRET_KEY_BASE", 44, ALNUM),
    "netrc": netrc,
    "npmrc": npmrc,
}


def _hash(name: str, size: int, before: str = "", after: str = "") -> Callable[[Random], str]:
    return lambda chance: f"{before}{some(chance, size, HEX)}{after}" if name else ""


def uuid(chance: Random) -> str:
    return "-".join(some(chance, size, HEX) for size in (8, 4, 4, 4, 12))


def words(chance: Random, size: int) -> list[str]:
    known = (
        "cart",
        "order",
        "price",
        "user",
        "list",
        "item",
        "view",
        "panel",
        "button",
        "store",
        "index",
        "query",
        "cache",
    )
    return [chance.choice(known) for _ in range(size)]


def image(chance: Random) -> str:
    return f'<img src="data:image/png;base64,iVBORw0KGgo{base64.b64encode(chance.randbytes(400)).decode()}">'


def css(chance: Random) -> str:
    parts = [
        "flex",
        "items-center",
        "justify-between",
        "px-4",
        "py-2",
        "text-sm/6",
        "bg-slate-900/50",
        "hover:bg-sky-600",
    ]
    return f'<div class="{" ".join(chance.sample(parts, 6))} css-{some(chance, 8, LOWER)}">'


LOOK_ALIKES: dict[str, Callable[[Random], str]] = {
    "git commit": _hash("commit", 40, "commit ", "\nAuthor: Ana <ana@example.invalid>"),
    "short commit": _hash("short", 7, "[main ", "] Fix the cart"),
    "SHA-256 sum": _hash("sum", 64, "", "  dist/app.tar.gz"),
    "image digest": _hash("digest", 64, "FROM node@sha256:"),
    "MD5 sum": _hash("md5", 32, "MD5 (app.zip) = "),
    "crate checksum": _hash("crate", 64, 'name = "serde"\nchecksum = "', '"'),
    "pip hash": _hash("pip", 64, "    --hash=sha256:", " \\"),
    "integrity": lambda chance: f'"integrity": "sha512-{base64.b64encode(chance.randbytes(64)).decode()}"',
    "go sum": lambda chance: f"golang.org/x/text v0.14.0 h1:{base64.b64encode(chance.randbytes(32)).decode()}",
    "UUID": lambda chance: f"session {uuid(chance)} started",
    "UUID key": lambda chance: json.dumps({"id": uuid(chance), "parentUuid": uuid(chance)}),
    "UUID file": lambda chance: f"/home/ana/.claude/projects/-home-ana-app/{uuid(chance)}.jsonl",
    "CSS classes": css,
    "CSS module": lambda chance: f'className="{"_".join(words(chance, 2))}__{some(chance, 5)}"',
    "test id": lambda chance: f'getByTestId("{"-".join(words(chance, 4))}-{some(chance, 6, LOWER)}")',
    "data test id": lambda chance: f'<button data-testid="{"-".join(words(chance, 3))}-{chance.randrange(10**6)}">',
    "base64 image": image,
    "base64 font": lambda chance: (
        f"src: url(data:font/woff2;base64,{base64.b64encode(chance.randbytes(300)).decode()})"
    ),
    "SVG path": lambda chance: f'<path d="M{chance.random():.3f} 12.5C{chance.random():.4f} 7.2 8.1 3 12 3z"/>',
    "chunk file": lambda chance: f"dist/assets/index-{some(chance, 8)}.js  {chance.randrange(900)}.31 kB",
    "tool id": lambda chance: json.dumps({"type": "tool_use", "id": f"toolu_{some(chance, 24)}", "name": "Bash"}),
    "message id": lambda chance: json.dumps({"id": f"msg_{some(chance, 24)}", "model": "some-model-4"}),
    "request id": lambda chance: f"request_id: req_{some(chance, 24)}",
    "trace id": lambda chance: f"traceparent: 00-{some(chance, 32, HEX)}-{some(chance, 16, HEX)}-01",
    "ETag": lambda chance: f'ETag: W/"{some(chance, 27)}"',
    "ULID": lambda chance: f"order {some(chance, 26, UPPER)} was paid",
    "pod name": lambda chance: f"pod/shop-api-{some(chance, 10, LOWER)}-{some(chance, 5, LOWER)} 1/1 Running",
    "contract address": lambda chance: f"const vault = '0x{some(chance, 40, HEX)}'",
    "long identifier": lambda chance: f"{words(chance, 1)[0]}{''.join(word.title() for word in words(chance, 6))}()",
    "long constant": lambda chance: f"MAX_{'_'.join(word.upper() for word in words(chance, 5))} = 30",
    "dotted name": lambda chance: f"com.example.{'.'.join(words(chance, 4))}.{words(chance, 1)[0].title()}Factory",
    "path": lambda chance: (
        f"server/{'/'.join(words(chance, 5))}/test_{'_'.join(words(chance, 3))}.py:{chance.randrange(900)}"
    ),
    "public key": lambda chance: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(chance, 43, B64)} ana@laptop",
    "certificate": lambda chance: (
        "-----BEGIN CERTIFICATE-----\n"
        + "\n".join(textwrap.wrap(base64.b64encode(chance.randbytes(300)).decode(), 64))
        + "\n-----END CERTIFICATE-----"
    ),
    "type of a password": lambda chance: f"password: string;  // {words(chance, 1)[0]}",
    "password read": lambda chance: f'password = getpass("{words(chance, 1)[0]}: ")',
    "key from environment": lambda chance: f'api_key = os.environ["{words(chance, 1)[0].upper()}_API_KEY"]',
    "key from settings": lambda chance: f"apiKey: process.env.{words(chance, 1)[0].upper()}_API_KEY ?? ''",
    "secret reference": lambda chance: "token: ${{ secrets." + words(chance, 1)[0].upper() + "_TOKEN }}",
    "shell variable": lambda chance: f'curl -H "Authorization: Bearer ${words(chance, 1)[0].upper()}_TOKEN" x.invalid',
    "placeholder": lambda chance: f"{words(chance, 1)[0].upper()}_API_KEY=your-api-key-here",
    "stars": lambda chance: f"password={'*' * chance.randint(6, 12)}",
    "dummy": lambda chance: f"token = '{'x' * chance.randint(12, 36)}'",
    "token count": lambda chance: f"max_tokens={chance.randrange(10**5)}, prompt_tokens={chance.randrange(10**5)}",
    "tokenizer": lambda chance: f"tokenizer = AutoTokenizer.from_pretrained('{words(chance, 1)[0]}-base-uncased')",
    "key name": lambda chance: f'if (event.key === "Arrow{chance.choice(["Up", "Down", "Left"])}") move()',
    "cache key": lambda chance: f'cache_key = "{":".join(words(chance, 4))}:v{chance.randrange(99)}"',
    "translation key": lambda chance: f't("{".".join(words(chance, 5))}")',
    "address without password": lambda chance: f"https://ana@git.example.invalid/{'/'.join(words(chance, 3))}.git",
    "mail": lambda chance: f"{'.'.join(words(chance, 2))}+{chance.randrange(999)}@example.invalid",
    "timestamp": lambda chance: f"2026-03-01T12:{chance.randrange(60):02}:01.{chance.randrange(10**6):06}Z 8f INFO ok",
    "version": lambda chance: f"numpy-{chance.randrange(9)}.4.6-cp311-cp311-manylinux_2_27_x86_64.whl",
    "base32 names": lambda chance: f"arn:aws:iam::{chance.randrange(10**11, 10**12)}:role/{'-'.join(words(chance, 4))}",
    "minified code": lambda chance: (
        "var " + ",".join(f"{some(chance, 2)}={chance.randrange(99)}" for _ in range(12)) + ";"
    ),
    "regular expression": lambda chance: f'SECRET = re.compile(r"[A-Za-z0-9]{{{chance.randint(20, 40)}}}")',
    "prose": lambda chance: f"The password field of the {' '.join(words(chance, 3))} form stays empty after a reload.",
    "prose of tokens": lambda chance: f"Store the access token in the {words(chance, 1)[0]} keychain, not in a file.",
}
