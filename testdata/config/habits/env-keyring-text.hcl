# says: write keyring\("NAME"\), without quotes
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "keyring:github" }
  }
}
