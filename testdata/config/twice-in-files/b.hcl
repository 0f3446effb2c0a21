server "same" {
  transport "stdio" {
    command = ["y"]
  }
}

locals {
  x = 2
}
