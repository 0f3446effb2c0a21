# says: write \$\{env\("GITHUB_TOKEN"\)\}
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "${env:GITHUB_TOKEN}" }
  }
}
