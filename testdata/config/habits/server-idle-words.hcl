# says: write idle = "5m"
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  idle = "5 minutes"
}
