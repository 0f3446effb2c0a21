server "a" {
  share = "session"
  transport "stdio" {
    command = ["x"]
  }
}

server "b" {
  share = "tenant"
  transport "stdio" {
    command = ["x"]
  }
}
