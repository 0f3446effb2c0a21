# A name may resolve to any address.
telemetry {
  metrics {
    listen = "metrics.example:7577"
  }
}
