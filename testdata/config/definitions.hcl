defaults {
  definitions = "pinned"
}

server "word" {
  definitions = "lock"
  transport "stdio" {
    command = ["x"]
  }
}

server "flag" {
  definitions = true
  transport "stdio" {
    command = ["x"]
  }
}

server "list" {
  definitions = ["any"]
  transport "stdio" {
    command = ["x"]
  }
}

server "unset" {
  definitions = null
  transport "stdio" {
    command = ["x"]
  }
}

server "upper" {
  definitions = "Locked"
  transport "stdio" {
    command = ["x"]
  }
}
