# says: command = \["npx", "-y", "@modelcontextprotocol/server-github"\]
server "github" {
  transport "stdio" {
    command = ["npx -y @modelcontextprotocol/server-github"]
  }
}
