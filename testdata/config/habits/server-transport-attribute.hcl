# says: write transport "stdio" \{ \.\.\. \}.*without an equals sign
server "github" {
  transport = "stdio"
  command   = ["npx", "-y", "@modelcontextprotocol/server-github"]
}
