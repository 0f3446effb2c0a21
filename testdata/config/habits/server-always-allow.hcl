# says: remove it: calls need no approval
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  alwaysAllow = ["get_issue"]
}
