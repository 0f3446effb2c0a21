# says: write url = "https://
server "linear" {
  transport "http" {
    httpUrl = "https://mcp.linear.app/mcp"
  }
}
