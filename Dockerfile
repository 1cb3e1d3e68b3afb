# simcounsel on a bare machine, without Python:
#   docker build -t simcounsel .
#   docker run --rm -it -v "$PWD:/work" --user "$(id -u):$(id -g)" simcounsel run insomnia --ticks 24
#   docker run --rm -it -v "$PWD:/work" --user "$(id -u):$(id -g)" -p 127.0.0.1:8765:8765 simcounsel view runs --host 0.0.0.0
# Keys by name: `-e OPENAI_API_KEY`. Extras: `docker build --build-arg EXTRAS='[analysis]' .`
FROM python:3.13-slim AS built
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY simcounsel simcounsel
COPY training training
COPY analysis analysis
COPY worlds worlds
COPY personas personas
COPY experiments experiments
ARG EXTRAS=""
RUN python -m venv /opt/simcounsel \
    && /opt/simcounsel/bin/pip install --no-cache-dir ".${EXTRAS}" \
    && SIMCOUNSEL_CACHE=/opt/cache /opt/simcounsel/bin/simcounsel models --pull \
    && chmod -R a+rwX /opt/cache

FROM python:3.13-slim
# llama.cpp's library, which answers for the embedded model, uses several cores by OpenMP
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 simcounsel
COPY --from=built /opt/simcounsel /opt/simcounsel
COPY --from=built /opt/cache /opt/cache
ENV PATH=/opt/simcounsel/bin:$PATH SIMCOUNSEL_CACHE=/opt/cache PYTHONUNBUFFERED=1
USER 1000
WORKDIR /work
ENTRYPOINT ["simcounsel"]
CMD ["--help"]
