# says: write headers = \{ NAME = "\.\.\." \}
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    headers = ["Authorization: Bearer hunter2"]
  }
}
