# says: write "\.\.\.", or a heredoc
server "linear" {
  transport "http" {
    url = `https://mcp.linear.app/mcp`
  }
}
