# The program `mooring` as an image: docker build -t mooring .
# It runs as a user without rights, and with a read-only root: docker run --read-only --tmpfs /tmp -v data:/data …

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts \
  && npm run -s build \
  && npm pack --ignore-scripts --pack-destination /tmp \
  && npm install --global --omit=dev --ignore-scripts --prefix /opt/mooring /tmp/mooring-*.tgz @redis/client@6

FROM node:22-bookworm-slim
COPY --from=build /opt/mooring /opt/mooring
RUN ln -s /opt/mooring/bin/mooring /usr/local/bin/mooring \
  && install -d -o node -g node -m 700 /data
USER node
# Listening on all addresses requires authentication: set MOORING_TOKEN, or mount a configuration file.
ENV NODE_ENV=production \
  MOORING_HTTP=true \
  MOORING_HOST=0.0.0.0 \
  MOORING_PORT=8000 \
  MOORING_DATA=/data \
  MCP_LOG_JSON=true
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# With the host name of the public URL, because other ones are rejected.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "const { MOORING_PORT: port, MOORING_PUBLIC_URL: url } = process.env; require('node:http').get({ host: '127.0.0.1', port, path: '/readyz', headers: { Host: url ? new URL(url).host : `127.0.0.1:${port}` } }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Not through npm or a shell: the process must receive SIGTERM itself.
ENTRYPOINT ["node", "/opt/mooring/lib/node_modules/mooring/dist/cli.js"]
CMD ["serve"]
