# says: remove it: calls need no approval.*tools \{ confirm
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  autoApprove = ["get_issue"]
}
