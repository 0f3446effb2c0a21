# The address of the gateway.
gateway {
  http {
    listen = "127.0.0.1:7577"
  }
}
telemetry {
  metrics {
  }
}
