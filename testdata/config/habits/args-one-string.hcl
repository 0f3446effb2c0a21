# says: write args = \["\.\.\.", "\.\.\."\]
server "github" {
  transport "stdio" {
    command = ["npx"]
    args    = "-y @modelcontextprotocol/server-github"
  }
}
