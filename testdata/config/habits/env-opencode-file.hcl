# says: write file\("PATH"\), without quotes
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "{file:/run/secrets/github}" }
  }
}
