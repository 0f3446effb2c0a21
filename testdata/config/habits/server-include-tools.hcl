# says: write tools \{ allow = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  includeTools = ["get_issue"]
}
