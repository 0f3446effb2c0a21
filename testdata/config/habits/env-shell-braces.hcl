# says: write \$\{env\("GITHUB_TOKEN"\)\}
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "${GITHUB_TOKEN}" }
  }
}
