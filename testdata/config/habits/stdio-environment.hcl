# says: write env = \{ NAME = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    environment = { LOG = "debug" }
  }
}
