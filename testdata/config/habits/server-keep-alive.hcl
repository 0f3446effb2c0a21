# says: write idle = "never"
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"

  }
  lifecycle = "keep-alive"
}
