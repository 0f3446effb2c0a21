# says: remove it: the label of the transport says it
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  type = "stdio"
}
