# Other machines could read the metrics.
telemetry {
  metrics {
    listen = "0.0.0.0:7577"
  }
}
