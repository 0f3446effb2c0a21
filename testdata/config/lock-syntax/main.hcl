server "a" {
  definitions = "locked"
  transport "stdio" {
    command = ["x"]
  }
}
