# says: write url = "https://
server "linear" {
  transport "http" {
    baseUrl = "https://mcp.linear.app/mcp"
  }
}
