console {
  file = "audit.db"
}

server "a" {
  transport "stdio" {
    command = ["x"]
  }
}
