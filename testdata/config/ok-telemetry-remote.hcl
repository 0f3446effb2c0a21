# Other machines may connect, which is a warning.
telemetry {
  metrics {
    listen       = "0.0.0.0:7577"
    allow_remote = true
  }
}
