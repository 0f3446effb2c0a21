# says: write NAME = "\.\.\." for an attribute
server "linear" {
  transport "http" {
    url "https://mcp.linear.app/mcp"
  }
}
