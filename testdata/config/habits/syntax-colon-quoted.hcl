# says: write NAME = VALUE
server "linear" {
  transport "http" {
    "url": "https://mcp.linear.app/mcp"
  }
}
