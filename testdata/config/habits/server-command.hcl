# says: write transport "stdio" \{ command = \["PROGRAM", "ARGUMENT"\] \}
server "github" {
  command = "npx"
  args    = ["-y", "@modelcontextprotocol/server-github"]
}
