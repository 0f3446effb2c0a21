# says: remove it: servers do not wait
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  depends_on = ["postgres"]
}
