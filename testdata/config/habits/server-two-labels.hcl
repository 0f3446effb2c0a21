# says: write server "NAME" \{
server "github" "stdio" {
  command = ["npx", "-y", "@modelcontextprotocol/server-github"]
}
