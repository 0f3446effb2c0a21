# says: write timeouts \{ start = "20s" \}
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  startup_timeout_sec = 20
}
