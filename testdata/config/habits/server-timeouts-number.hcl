# says: write call = "30s" for 30 seconds
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  timeouts {
    call = 30
  }
}
