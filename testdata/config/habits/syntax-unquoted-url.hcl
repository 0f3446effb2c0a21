# says: write "\.\.\." around the text
server "linear" {
  transport "http" {
    url = https://mcp.linear.app/mcp
  }
}
