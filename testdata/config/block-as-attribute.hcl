server "a" {
  transport "stdio" {
    command = ["x"]
  }
  timeouts = { call = "1s" }
  prefix {
  }
}
