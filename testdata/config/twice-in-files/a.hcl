server "same" {
  transport "stdio" {
    command = ["x"]
  }
}

locals {
  x = 1
}
