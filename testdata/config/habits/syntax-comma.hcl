# says: remove the comma
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp",
    headers = { X-Team = "platform" }
  }
}
