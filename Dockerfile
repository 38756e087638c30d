# docker build -t repute:0.1.0 .
# docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" repute:0.1.0 enrich dump.csv --local -o enriched.csv
FROM node:24-bookworm-slim AS build
WORKDIR /repute
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run package \
  && mkdir /opt/repute \
  && for archive in dist/packages/*.tar.gz; do tar -xzf "$archive" -C /opt/repute --strip-components=1; done

# Has the libraries that Node.js needs (libstdc++6, libgcc-s1), and a shell for the launcher.
FROM debian:bookworm-slim
COPY --from=build /opt/repute /opt/repute
# Any user may be given at the start, as with --user or in OpenShift.
RUN ln -s /opt/repute/bin/repute /usr/local/bin/repute \
  && install -d -m 1777 /data /var/lib/repute
ENV HOME=/var/lib/repute XDG_STATE_HOME=/var/lib/repute/state XDG_CACHE_HOME=/var/lib/repute/cache
VOLUME ["/data", "/var/lib/repute"]
WORKDIR /data
USER 10001:10001
HEALTHCHECK NONE
ENTRYPOINT ["/opt/repute/bin/repute"]
CMD ["--help"]
