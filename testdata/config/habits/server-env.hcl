# says: write env = \{ NAME = "\.\.\." \} in the transport block
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  env = { GITHUB_TOKEN = "hunter2" }
}
