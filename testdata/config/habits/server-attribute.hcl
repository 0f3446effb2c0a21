# says: write a block server "NAME" for each
server = {
  github = { command = "npx" }
}
