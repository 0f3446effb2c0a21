# says: write \$\{env\("LINEAR_TOKEN"\)\}
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    headers = { Authorization = "Bearer ${LINEAR_TOKEN}" }
  }
}
