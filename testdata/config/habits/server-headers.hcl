# says: write headers = \{.* in transport "http"
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"

  }
  headers = { X-Team = "platform" }
}
