# says: write auth "bearer" \{ token = env\("NAME"\) \} in the server block
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    bearer_token = "hunter2"
  }
}
