# says: write \$\{env\("GITHUB_TOKEN", "DEFAULT"\)\}
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "${GITHUB_TOKEN:-none}" }
  }
}
