# An image with pragma and PyTorch for the CPU. It has not been built yet: see docs/containers.md, also for the flags that
# the full jail needs.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends git make
COPY . /src
WORKDIR /src
RUN make && make install PREFIX=/opt/pragma

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
      g++ binutils bubblewrap libfmt9 libsimdjson14 libssl3 libsqlite3-0 libcurl4 libseccomp2 libmuparser2v5 libtidy5deb1 \
      python3 ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/pragma /opt/pragma
ENV PATH=/opt/pragma/bin:$PATH
WORKDIR /work
ENTRYPOINT ["pragma"]
