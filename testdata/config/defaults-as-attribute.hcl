defaults = {
  idle = "5m"
}

server "a" {
  timeout = "5s"
  transport "stdio" {
    command = ["x"]
  }
}
