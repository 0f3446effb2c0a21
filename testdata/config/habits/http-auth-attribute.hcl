# says: write auth "oauth" \{ \.\.\. \} in the server block
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    auth = "oauth"
  }
}
