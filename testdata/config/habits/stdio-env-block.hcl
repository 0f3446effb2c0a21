# says: write env = \{ NAME = "\.\.\." \}, with an equals sign
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env {
      GITHUB_TOKEN = "hunter2"
    }
  }
}
