policy {
  default = "deny"
}

server "a" {
  transport "stdio" {
    command = ["x"]
  }
  tools {
    confirm = ["x"]
  }
}
