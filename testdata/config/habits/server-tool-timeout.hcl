# says: write timeouts \{ call = "60s" \}
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  tool_timeout_sec = 60
}
