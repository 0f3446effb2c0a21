# says: write a block server "NAME" for each.*`junctor import FILE`
mcp_servers "github" {
  command = "npx"
}
