gateway {
  http {
    url     = "https://user@mcp.example.com/mcp?x=1"
    proxies = ["0.0.0.0/0", "proxy.example.com", "unix", "10.0.0.1/8"]
  }
}
