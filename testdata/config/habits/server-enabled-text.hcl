# says: write enabled = true or enabled = false, without quotes
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  enabled = "yes"
}
