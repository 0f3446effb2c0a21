# says: write transport "http" \{
server "linear" {
  transport "streamable-http" {
    url = "https://mcp.linear.app/mcp"
  }
}
