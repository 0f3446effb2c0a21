# says: write tools \{ allow = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  enabled_tools = ["get_issue"]
}
