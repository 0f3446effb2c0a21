# says: write tools \{ allow = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  tools = ["get_issue"]
}
