# says: write it in quotes: "30s"
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  timeouts {
    call = 30s
  }
}
