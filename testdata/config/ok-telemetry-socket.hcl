# A unix socket, for which allow_remote means nothing.
telemetry {
  metrics {
    listen       = "unix:metrics.sock"
    allow_remote = true
  }
}
