# says: write the value on the line of the name
server "linear" {
  transport "http" {
    url =
      "https://mcp.linear.app/mcp"
  }
}
