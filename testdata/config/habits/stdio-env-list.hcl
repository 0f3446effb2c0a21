# says: write env = \{ NAME = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    env = ["GITHUB_TOKEN=hunter2"]
  }
}
