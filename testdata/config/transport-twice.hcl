server "a" {
  transport "stdio" {
    command = ["x"]
  }
  transport "stdio" {
    command = ["y"]
  }
  timeouts {
  }
  timeouts {
  }
}
