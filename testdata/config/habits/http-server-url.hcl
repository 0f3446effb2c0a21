# says: write url = "https://
server "linear" {
  transport "http" {
    serverUrl = "https://mcp.linear.app/mcp"
  }
}
