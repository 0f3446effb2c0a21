# says: write it in a server block
transport "http" {
  url = "https://mcp.linear.app/mcp"
}
