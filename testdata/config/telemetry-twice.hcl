# Two blocks, and two in one of them.
telemetry {
  metrics {
  }
  metrics {
  }
}
telemetry {
}
