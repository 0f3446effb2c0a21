# says: write timeouts \{ \.\.\. \}, without an equals sign
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  timeouts = { call = "30s" }
}
