# No port.
telemetry {
  metrics {
    listen = "127.0.0.1"
  }
}
