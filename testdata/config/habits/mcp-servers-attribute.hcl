# says: write a block server "NAME" for each.*`junctor import FILE`
mcpServers = {
  github = { command = "npx" }
}
