# says: write transport "http" \{ url = 
server "linear" {
  url = "https://mcp.linear.app/mcp"
}
