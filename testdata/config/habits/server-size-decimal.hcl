# says: write max_message = "16MiB"
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  max_message = "16MB"
}
