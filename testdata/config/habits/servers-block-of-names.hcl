# says: write a block server "NAME" for each server, outside of this one
servers {
  github {
    command = ["x"]
  }
}
