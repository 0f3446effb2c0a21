# Metrics on an address of their own, and a server that learns nothing of traces.
defaults {
  trace = "off"
}
server "quiet" {
  transport "stdio" {
    command = ["mcp-git"]
  }
}
server "traced" {
  transport "stdio" {
    command = ["mcp-git"]
  }
  trace = "on"
}
telemetry {
  metrics {
    listen = "[::1]:9464"
  }
}
