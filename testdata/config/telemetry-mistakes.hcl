# Wrong names and types.
telemetry {
  listen = "127.0.0.1:7577"
  metric {
  }
  traces {
  }
  metrics {
    listen       = 7577
    allow_remote = "yes"
    path         = "/metrics"
  }
}
server "a" {
  transport "stdio" {
    command = ["x"]
  }
  trace = false
}
