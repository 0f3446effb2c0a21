server "a" {
  transport "stdio" {
    command = ["x"]
  }
}

server "b" {
  transport "stdio" {
    command = ["x"]
  }
  prefix = "a"
}

server "c" {
  enabled = false
  transport "stdio" {
  }
  prefix = "a"
}
