# says: write auth "bearer" \{ token = env\("NAME"\) \}
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"

  }
  bearer_token_env_var = "LINEAR_TOKEN"
}
