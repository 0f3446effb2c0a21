# says: remove the semicolon
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp";
  }
}
