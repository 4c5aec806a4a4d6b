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
HEALTHCHECK --interval=10s --timeout=3s CMD ["sessdex", "doctor", "--json"]
ENTRYPOINT ["sessdex"]
CMD ["serve", "--addr", "0.0.0.0:7337"]
