FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /sessdex ./cmd/sessdex

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 sessdex && install -d -o sessdex -g sessdex /data
COPY --from=build /sessdex /usr/local/bin/sessdex
USER sessdex
ENV SESSDEX_DATA=/data
VOLUME /data
EXPOSE 7337
HEALTHCHECK --interval=10s --timeout=3s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/7337 && printf 'GET /healthz HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && grep -q '200 OK' <&3"]
ENTRYPOINT ["sessdex"]
CMD ["serve", "--addr", "0.0.0.0:7337"]
