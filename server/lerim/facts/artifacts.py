"""The concrete things a text names: files, symbols, commands, settings, errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

EXTENSIONS = (
    "py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|sh|bash|zsh|fish|ps1|sql|md|mdx|rst|txt|"
    "json|jsonc|jsonl|toml|yaml|yml|ini|cfg|conf|env|lock|xml|html|css|scss|vue|svelte|proto|graphql|tf|ipynb|csv|mod|gradle"
)
_PATH = re.compile(
    rf"(?<![\w/:@.-])(?:~?/|\.{{1,2}}/)?(?:[\w.@-]{{1,60}}/){{0,12}}[\w@.-]{{0,80}}\.(?:{EXTENSIONS})(?![\w/-])"
    r"|(?<![\w/:@.-])(?:\.{0,2}/)?(?:[\w.@-]{1,60}/){2,12}[\w.@-]{0,80}"
    r"|(?<![\w/])(?:Makefile|Dockerfile|Justfile|Procfile|LICENSE|README|AGENTS\.md|CLAUDE\.md|\.[a-z][a-z_]{2,20}(?:ignore|rc))(?!\w)"
)
_TICKED = re.compile(r"`([^`\n]{1,80})`")
_SYMBOL = re.compile(
    r"(?<![\w./-])(?:[A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,5}(?:\(\))?|[A-Za-z]\w{0,40}\(\)|"
    r"[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}|[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,20}){1,6}|"
    r"[a-z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}|[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6})(?![\w/])"
)
_FLAG = re.compile(r"(?<![\w-])--?[a-z][a-z0-9-]{1,40}(?![\w])")
_ERROR = re.compile(r"\b(?:[A-Z]\w{1,40}(?:Error|Exception|Warning)|E[A-Z]{4,12}|TS\d{4,5}|E\d{3,4}|HTTP [45]\d\d)\b")
_PACKAGE = re.compile(r"(?<![\w/])@[a-z0-9-]{1,40}/[a-z0-9._-]{1,60}")
_WORD = re.compile(r"[A-Za-z][\w+#.-]{0,40}")

TOOLS = frozenset(
    ["npm", "pnpm", "yarn", "bun", "npx", "node", "deno", "pip", "pipx", "uv", "uvx", "poetry", "conda", "pdm", "hatch", "tox", "nox", "pytest", "unittest", "vitest", "jest", "mocha", "playwright", "cypress", "selenium", "puppeteer", "docker", "podman", "kubectl", "helm", "terraform", "ansible", "make", "cmake", "ninja", "bazel", "gradle", "maven", "mvn", "cargo", "rustc", "rustfmt", "clippy", "go", "gofmt", "golangci-lint", "mise", "asdf", "just", "git", "gh", "glab", "eslint", "prettier", "biome", "ruff", "black", "isort", "mypy", "pyright", "flake8", "pylint", "tsc", "typescript", "webpack", "vite", "esbuild", "rollup", "turbo", "nx", "lerna", "knip", "lefthook", "husky", "pre-commit", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "duckdb", "redis", "mongodb", "mongo", "kafka", "rabbitmq", "nats", "elasticsearch", "prisma", "drizzle", "sqlalchemy", "alembic", "django", "flask", "fastapi", "starlette", "pydantic", "msgspec", "attrs", "requests", "httpx", "aiohttp", "axios", "fetch", "express", "koa", "hono", "nest", "next", "next.js", "nuxt", "react", "preact", "vue", "svelte", "angular", "solid", "remix", "astro", "tailwind", "tailwindcss", "bootstrap", "css", "html", "zod", "yup", "graphql", "grpc", "rest", "openapi", "swagger", "protobuf", "json", "yaml", "toml", "xml", "csv", "markdown", "jsonl", "parquet", "utc", "iso8601", "unicode", "utf-8", "ascii", "jwt", "oauth", "oauth2", "saml", "ldap", "tls", "ssl", "ssh", "bash", "zsh", "fish", "powershell", "pwsh", "cmd", "sed", "awk", "grep", "rg", "ripgrep", "jq", "yq", "curl", "wget", "python", "python3", "ruby", "rails", "rust", "java", "kotlin", "swift", "scala", "php", "laravel", "elixir", "erlang", "haskell", "typescript", "javascript", "c++", "c#", ".net", "dotnet", "nuget", "langgraph", "langchain", "openai", "anthropic", "gemini", "ollama", "claude", "codex", "cursor", "copilot", "aws", "gcp", "azure", "s3", "lambda", "cloudflare", "vercel", "netlify", "heroku", "supabase", "firebase", "stripe", "sentry", "datadog", "prometheus", "grafana", "opentelemetry", "loguru", "structlog", "logging", "winston", "pino", "zap", "slog", "testify", "gomock", "mockito", "testcontainers", "hypothesis", "factory-boy", "faker", "storybook", "electron", "tauri", "vscode", "neovim", "vim", "emacs", "linux", "macos", "windows", "wsl", "nginx", "caddy", "traefik", "celery", "airflow", "dagster", "dbt", "spark", "pandas", "polars", "numpy", "scipy", "pytorch", "tensorflow", "jax", "sklearn", "huggingface", "transformers", "websocket", "websockets", "sse", "asyncio", "anyio", "trio", "tokio", "rayon", "serde", "clap", "cobra", "viper", "typer", "click", "argparse", "dotenv", "monorepo", "submodule", "worktree", "squash", "changelog", "semver", "makefile", "dockerfile", "readme", "container", "apple-container", "containerd", "decimal", "float", "datetime", "enum", "dataclass", "dataclasses", "orm", "sql", "fts5", "wal"]
)
_WORKFLOW = frozenset(
    "npm pnpm yarn bun npx pip pipx uv uvx poetry conda pdm hatch tox nox pytest unittest vitest jest mocha make just mise asdf git gh glab "
    "eslint prettier biome ruff black isort mypy pyright rebase merge squash grep rg sed awk find cat bash zsh fish task npm-run docker podman".split()
)
_PLAIN_WORDS = frozenset(
    ["go", "make", "just", "next", "rest", "fetch", "click", "express", "solid", "remix", "fish", "black", "cursor", "make", "nest", "spark", "faker", "zap", "clap", "cmd", "float", "container", "requests", "logging", "hatch", "nox", "node", "enum", "linux", "windows", "markdown", "helm", "solid", "vite", "flask", "requests", "readme", "just", "pick"]
)


def paths(text: str) -> list[str]:
    """Paths and file names in the text, in order, as written (without trailing punctuation)."""
    return list(dict.fromkeys(hit.rstrip(".,;:") for hit in _PATH.findall(text) if len(hit) > 2 and "//" not in hit))


def artifacts(text: str, known: Iterable[str] = ()) -> tuple[str, ...]:
    """The concrete things named in the text, first mention first: at most twelve.

    `known` are further names this session uses (lower case); common English words count only where the session does.
    """
    hits: list[tuple[int, str]] = []
    for pattern in (_PATH, _SYMBOL, _FLAG, _ERROR, _PACKAGE):
        hits += [(m.start(), m.group().rstrip(".,;:")) for m in pattern.finditer(text)]
    hits += [(m.start(1), m.group(1)) for m in _TICKED.finditer(text)]
    names = known if isinstance(known, frozenset) else frozenset(known)
    for match in _WORD.finditer(text):
        word = match.group().rstrip(".")
        low = word.lower()
        if low in names or (low in TOOLS and (low not in _PLAIN_WORDS or (word[:1].isupper() and match.start() > 0))):
            hits.append((match.start(), word))
    hits.sort()
    return tuple(dict.fromkeys(name for _, name in hits if len(name) > 1 and not name.startswith("e.g")))[:12]


def is_tool(word: str) -> bool:
    """Whether the word is the name of a well-known tool, library or format."""
    return word.strip("`\"' ").lower() in TOOLS


def is_workflow(word: str) -> bool:
    """Whether the word names a tool one works with (a package manager, runner, version control), not what is built."""
    return word.strip("`\"' ").lower().split(" ")[0] in _WORKFLOW
