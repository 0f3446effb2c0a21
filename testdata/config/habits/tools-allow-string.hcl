# says: write allow = \["\.\.\."\], a list
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  tools {
    allow = "read_*"
  }
}
