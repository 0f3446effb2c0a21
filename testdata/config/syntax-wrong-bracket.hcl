server "a" {
  transport "stdio" {
    command = ["x")
  }
}
