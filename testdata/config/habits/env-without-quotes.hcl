# says: write the name in quotes: env\("NAME"\)
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = env(GITHUB_TOKEN) }
  }
}
