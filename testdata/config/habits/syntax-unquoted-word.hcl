# says: write text in quotes
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
  }
  share = global
}
