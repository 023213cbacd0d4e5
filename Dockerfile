# The server of Lerim: docker build -t lerim .   Then `lerim up --docker` writes a docker-compose.yml that uses it.
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements-serve.lock ./
RUN python -m venv /opt/lerim \
 && /opt/lerim/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-serve.lock
COPY pyproject.toml README.md LICENSE ./
COPY scripts/build_hook.py scripts/fetch_encoding.py scripts/
COPY server server
RUN python -m pip install --no-cache-dir "hatchling>=1.27" \
 && /opt/lerim/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
# No version is pinned: Debian deletes the old ones of its packages.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/lerim /opt/lerim
USER 1000:1000
EXPOSE 8765
ENTRYPOINT ["/opt/lerim/bin/python", "-P", "-X", "utf8", "-m", "lerim"]
CMD ["server", "{\"host\": \"0.0.0.0\", \"proxy_origin\": \"http://127.0.0.1:8765\"}"]
