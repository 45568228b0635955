# toolcrib as a server of its own: see docs/deploy.md.

FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml hatch_build.py constraints.txt README.md LICENSE ./
COPY src ./src
RUN python3 -m venv /opt/toolcrib
RUN /opt/toolcrib/bin/pip install --quiet --no-cache-dir --disable-pip-version-check \
    --constraint constraints.txt .

FROM python:3.13-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 toolcrib \
    && install --directory --owner toolcrib /workspace /data
COPY --from=build /opt/toolcrib /opt/toolcrib
ENV PATH=/opt/toolcrib/bin:$PATH \
    TOOLCRIB_DATA=/data \
    TOOLCRIB_HTTP__HOST=0.0.0.0 \
    TOOLCRIB_WORKSPACE__ROOTS=/workspace
USER toolcrib
WORKDIR /workspace
VOLUME ["/workspace", "/data"]
EXPOSE 8722
HEALTHCHECK CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8722/health', timeout=5)"]
ENTRYPOINT ["toolcrib"]
CMD ["serve"]
