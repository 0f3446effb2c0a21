# says: write transport "stdio" \{
server "github" {
  stdio {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
}
