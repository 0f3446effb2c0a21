# says: write an ordinary space
server "a" {
  transport "stdio" {
    command = ["x"]
  }
}
