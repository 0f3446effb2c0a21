# says: write timeouts \{ call = "60s" \} in the server block
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    timeout = 30
  }
}
