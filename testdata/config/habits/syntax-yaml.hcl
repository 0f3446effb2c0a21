# says: write a block server "NAME"
servers:
  github:
    command: npx
