# says: write headers = \{ NAME = env\("VARIABLE"\) \}
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    env_http_headers = { X-Token = "LINEAR_TOKEN" }
  }
}
