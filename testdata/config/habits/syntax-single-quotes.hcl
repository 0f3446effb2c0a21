# says: write \"\.\.\.\" in place of '
server 'linear' {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
  }
}
