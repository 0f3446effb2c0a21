# says: write keyring\("NAME"\)
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "op://team/github/token" }
  }
}
