# says: write headers = \{
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    requestInit = { headers = { Authorization = "hunter2" } }
  }
}
