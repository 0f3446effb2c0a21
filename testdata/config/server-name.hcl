server "gіthub" {
  transport "stdio" {
    command = ["x"]
  }
}

server "1st" {
  transport "stdio" {
    command = ["x"]
  }
}

server "" {
  transport "stdio" {
    command = ["x"]
  }
}
