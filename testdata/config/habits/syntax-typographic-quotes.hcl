# says: write straight quotes
server “linear” {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
  }
}
