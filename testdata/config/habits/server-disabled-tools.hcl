# says: write tools \{ deny = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  disabledTools = ["delete_repo"]
}
