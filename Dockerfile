# Serves the folder that is mounted at /sources: docs/docker.md.
FROM python:3.13-slim AS python

FROM python AS build
# `server`, or `cluster` with what several servers need: LanceDB, Ray, Redis.
ARG REQUIREMENTS=server
WORKDIR /build
COPY requirements/build.txt requirements/${REQUIREMENTS}.txt requirements/
RUN python -m venv --without-pip /opt/openbook \
    && python -m pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && python -m pip --python /opt/openbook/bin/python install --no-cache-dir --require-hashes -r requirements/${REQUIREMENTS}.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m hatchling build --target wheel \
    && python -m pip --python /opt/openbook/bin/python install --no-cache-dir --no-deps dist/*.whl

FROM python
# A number, so that Kubernetes can see that it is not root.
RUN useradd --uid 10001 --create-home openbook && install -d -o openbook -g openbook -m 700 /var/lib/openbook
COPY --from=build /opt/openbook /opt/openbook
ENV PATH=/opt/openbook/bin:$PATH \
    OPENBOOK_HOME=/var/lib/openbook \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /sources
VOLUME /var/lib/openbook
EXPOSE 8321
# A large folder is indexed before the server listens.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8321/healthz', timeout=4)"]
STOPSIGNAL SIGINT
ENTRYPOINT ["openbook"]
CMD ["serve", "/sources", "--host", "0.0.0.0"]
