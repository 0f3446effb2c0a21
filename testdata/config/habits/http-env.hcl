# says: write headers = \{ NAME = env\("VARIABLE"\) \}, or an auth block
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    env = { LINEAR_TOKEN = "hunter2" }
  }
}
