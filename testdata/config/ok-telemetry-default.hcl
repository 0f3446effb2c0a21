# The default address.
telemetry {
  metrics {
  }
}
