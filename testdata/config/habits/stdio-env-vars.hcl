# says: write pass_env = \["NAME"\]
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env_vars = ["GITHUB_TOKEN"]
  }
}
