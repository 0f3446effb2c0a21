# says: as a comment: #
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  description = "Issues and pull requests"
}
