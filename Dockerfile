# syntax=docker/dockerfile:1

# One binary on a base without shell or package manager: docker build -t rowgate .
# Bases are pinned by exact tags; where you build for others, pin them by digest too:
# docker buildx imagetools inspect oven/bun:1.4.5-slim

FROM oven/bun:1.4.5-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The versions of the lock file, and no script of any package.
RUN bun install --frozen-lockfile --ignore-scripts
COPY scripts/compile_bun.js scripts/embed_console.js scripts/
COPY src src
# The folder of the volume, which belongs to the user that serves.
RUN bun scripts/compile_bun.js && mkdir -p /empty/data

FROM gcr.io/distroless/cc-debian12:nonroot
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Rowgate" \
      org.opencontainers.image.description="HTTP access for integration clients to the rows of one tenant in your multi-tenant Postgres" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="gcr.io/distroless/cc-debian12:nonroot"
COPY --from=build /build/dist/rowgate /usr/local/bin/rowgate
COPY --from=build --chown=65532:65532 /empty/data /data
ENV HOST=0.0.0.0 \
    PORT=8080 \
    ROWGATE_DATA_DIR=/data
USER 65532:65532
VOLUME ["/data"]
WORKDIR /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 \
  CMD ["/usr/local/bin/rowgate", "health"]
ENTRYPOINT ["/usr/local/bin/rowgate"]
CMD ["serve"]
