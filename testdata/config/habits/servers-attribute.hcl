# says: write a block server "NAME" for each
servers = {
  github = { command = "npx" }
}
