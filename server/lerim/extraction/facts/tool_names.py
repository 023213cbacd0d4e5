"""Names of well-known tools, libraries and formats, which a rule can be about without a path or symbol."""

from __future__ import annotations

_TOOLS = (
    ".net aiohttp airflow alembic angular ansible anthropic anyio apple-container argparse ascii asdf astro "
    "asyncio attrs awk aws axios azure bash bazel biome black bootstrap bun c# c++ caddy cargo celery changelog "
    "clap claude click clippy cloudflare cmake cmd cobra codex conda container containerd copilot css csv curl "
    "cursor cypress dagster dataclass dataclasses datadog datetime dbt decimal deno django docker dockerfile "
    "dotenv dotnet drizzle duckdb elasticsearch electron elixir emacs enum erlang esbuild eslint express factory- "
    "boy faker fastapi fetch firebase fish flake8 flask float fts5 gcp gemini gh git glab go gofmt golangci-lint "
    "gomock gradle grafana graphql grep grpc haskell hatch helm heroku hono html httpx huggingface husky "
    "hypothesis iso8601 isort java javascript jax jest jq json jsonl just jwt kafka knip koa kotlin kubectl "
    "lambda langchain langgraph laravel ldap lefthook lerna linux logging loguru macos make makefile mariadb "
    "markdown maven mise mocha mockito mongo mongodb monorepo msgspec mvn mypy mysql nats neovim nest netlify "
    "next next.js nginx ninja node nox npm npx nuget numpy nuxt nx oauth oauth2 ollama openai openapi "
    "opentelemetry orm pandas parquet pdm php pino pip pipx playwright png pngs pnpm podman poetry polars postgres "
    "postgresql powershell pre-commit preact prettier prisma prometheus protobuf puppeteer pwsh pydantic pylint "
    "pyright pytest python python3 pytorch rabbitmq rails rayon react readme redis remix requests rest rg ripgrep "
    "rollup ruby ruff rust rustc rustfmt s3 saml scala scipy sed selenium semver sentry serde sklearn slog solid "
    "spark sql sqlalchemy sqlite squash sse ssh ssl starlette storybook stripe structlog submodule supabase "
    "svelte svg svgs swagger swift tailwind tailwindcss tauri tensorflow terraform testcontainers testify tls tokio "
    "toml tox traefik transformers trio tsc turbo typer typescript unicode unittest utc utf-8 uv uvx vercel vim viper "
    "vite vitest vscode vue wal webpack websocket websockets wget windows winston worktree wsl xml yaml yarn yq "
    "yup zap zod zsh "
)
_PLAIN = (
    "black clap click cmd container cursor enum express faker fetch fish flask float go hatch helm just linux "
    "logging make markdown nest next node nox pick readme remix requests rest solid spark store vite windows zap "
)

TOOL_NAMES = frozenset(_TOOLS.split())
PLAIN_TOOL_NAMES = frozenset(_PLAIN.split())
"""Names that are also ordinary English words."""
