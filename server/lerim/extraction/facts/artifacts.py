"""Finds the concrete things a text names: files, symbols, commands, settings, errors."""

from __future__ import annotations

from lerim.patterns import compile_later

EXTENSIONS = (
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|sh|bash|zsh|fish|ps1|sql|md|mdx"
    "|rst|txt|json|jsonc|jsonl|toml|yaml|yml|ini|cfg|conf|env|lock|xml|html|css|scss|vue|svelte|proto|graphql|tf|ipynb"
    "|csv|mod|gradle"
)
_PATH = compile_later(
    rf"(?<![\w/:@.-])(?:~?/|\.{{1,2}}/)?(?:[\w.@-]{{1,60}}/){{0,12}}[\w@.-]{{0,80}}\.(?:{EXTENSIONS})(?![\w/-])"
    r"|(?<![\w/:@.-])(?:\.{0,2}/)?(?:[\w.@-]{1,60}/){2,12}[\w.@-]{0,80}"
    r"|(?<![\w/:@.-])(?:src|lib|tests?|apps?|packages|cmd|internal|pkg|server|client|docs|scripts|config|\.github|"
    r"frontend|"
    r"backend|web|api|bin|examples|migrations|db|e2e)/[\w.@-]{0,80}"
    r"|(?<![\w/])(?:Makefile|Dockerfile|Justfile|Procfile|LICENSE|README|AGENTS\.md|CLAUDE\.md|GEMINI\.md|"
    r"\.[a-z][a-z_]{2,20}(?:ignore|rc))(?!\w)"
)
_PATH_SIGN = compile_later(r"[/.]|file|LICENSE|README")
TEST_PATH = compile_later(r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_|[._]test\.|\.spec\.")
"""Matches the path of a test, or of a file that tests use."""
_TICKED = compile_later(r"`([^`\n]{1,80})`")
_SYMBOL = compile_later(
    r"(?<![\w./-])(?:[A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,5}(?:\(\))?|[A-Za-z]\w{0,40}\(\)|"
    r"[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}|[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,20}){1,6}|"
    r"[a-z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}|[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6})(?![\w/])"
)
_FLAG = compile_later(r"(?<![\w-])--?[a-z][a-z0-9-]{1,40}(?![\w])")
_ERROR = compile_later(
    r"\b(?:[A-Z]\w{1,40}(?:Error|Exception|Warning)|E[A-Z]{4,12}|TS\d{4,5}|E\d{3,4}|HTTP [45]\d\d)\b"
)
_PACKAGE = compile_later(r"(?<![\w/])@[a-z0-9-]{1,40}/[a-z0-9._-]{1,60}")
_WORD = compile_later(r"[A-Za-z][\w+#.-]{0,40}")
_TOOLS = (
    ".net aiohttp airflow alembic angular ansible anthropic anyio apple-container argparse ascii asdf astro asyncio "
    "attrs awk aws axios azure bash bazel biome black bootstrap bun c# c++ caddy cargo celery changelog clap claude "
    "click clippy cloudflare cmake cmd cobra codex conda container containerd copilot css csv curl cursor cypress "
    "dagster dataclass dataclasses datadog datetime dbt decimal deno django docker dockerfile dotenv dotnet drizzle "
    "duckdb elasticsearch electron elixir emacs enum erlang esbuild eslint express factory- boy faker fastapi fetch "
    "firebase fish flake8 flask float fts5 gcp gemini gh git glab go gofmt golangci-lint gomock gradle grafana graphql "
    "grep grpc haskell hatch helm heroku hono html httpx huggingface husky hypothesis iso8601 isort java javascript "
    "jax jest jq json jsonl just jwt kafka knip koa kotlin kubectl lambda langchain langgraph laravel ldap lefthook "
    "lerna linux logging loguru macos make makefile mariadb markdown maven mise mocha mockito mongo mongodb monorepo "
    "msgspec mvn mypy mysql nats neovim nest netlify next next.js nginx ninja node nox npm npx nuget numpy nuxt nx "
    "oauth oauth2 ollama openai openapi opentelemetry orm pandas parquet pdm php pino pip pipx playwright png pngs "
    "pnpm podman poetry polars postgres postgresql powershell pre-commit preact prettier prisma prometheus protobuf "
    "puppeteer pwsh pydantic pylint pyright pytest python python3 pytorch rabbitmq rails rayon react readme redis "
    "remix requests rest rg ripgrep rollup ruby ruff rust rustc rustfmt s3 saml scala scipy sed selenium semver sentry "
    "serde sklearn slog solid spark sql sqlalchemy sqlite squash sse ssh ssl starlette storybook stripe structlog "
    "submodule supabase svelte svg svgs swagger swift tailwind tailwindcss tauri tensorflow terraform testcontainers "
    "testify tls tokio toml tox traefik transformers trio tsc turbo typer typescript unicode unittest utc utf-8 uv uvx "
    "vercel vim viper vite vitest vscode vue wal webpack websocket websockets wget windows winston worktree wsl xml "
    "yaml yarn yq yup zap zod zsh "
)
_PLAIN = (
    "black clap click cmd container cursor enum express faker fetch fish flask float go hatch helm just linux "
    "logging make markdown nest next node nox pick readme remix requests rest solid spark store vite windows zap "
)

TOOL_NAMES = frozenset(_TOOLS.split())
PLAIN_TOOL_NAMES = frozenset(_PLAIN.split())
"""Names that are also ordinary English words."""


def find_paths(text: str) -> list[str]:
    """Returns the paths and file names in the text, in order, as written (without trailing punctuation)."""
    words = "\n".join([word for word in dict.fromkeys(text.split()) if _PATH_SIGN.search(word)])  # few can be a path
    return list(dict.fromkeys(hit.rstrip(".,;:") for hit in _PATH.findall(words) if len(hit) > 2 and "//" not in hit))


def find_artifacts(text: str) -> tuple[str, ...]:
    """Returns up to twelve concrete things named in the text, in the order of their first mention. The name of a tool
    that is also an English word counts only if it is capitalized inside the text."""
    hits = [(match.start(1), match[1]) for match in _TICKED.finditer(text)]
    for pattern in (_PATH, _SYMBOL, _FLAG, _ERROR, _PACKAGE):
        hits += [(match.start(), match.group().rstrip(".,;:")) for match in pattern.finditer(text)]
    for match in _WORD.finditer(text):
        word = match.group().rstrip(".")
        low = word.lower()
        if low in TOOL_NAMES and (low not in PLAIN_TOOL_NAMES or (word[:1].isupper() and match.start() > 0)):
            hits.append((match.start(), word))
    hits.sort()
    return tuple(dict.fromkeys(name for _, name in hits if len(name) > 1 and not name.startswith("e.g")))[:12]
