server "a" {
  transport "stdio" {
    command = ["x"]
  }
  prefix = "a__b"
}

server "b" {
  transport "stdio" {
    command = ["x"]
  }
  prefix = "b_"
}

server "c" {
  transport "stdio" {
    command = ["x"]
  }
  prefix = "c.d"
}

server "d" {
  transport "stdio" {
    command = ["x"]
  }
  prefix = "ddddddddddddddddddddddddddddddddddddddddd"
}
