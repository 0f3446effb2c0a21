gateway {
  http {
    listen = "127.0.0.1:7575"
  }
}

policy {
  default = "deny"
}

server "a" {
  transport "stdio" {
    command = ["x", keyring("token")]
  }
  auth "oauth" {
  }
  tools {
    confirm = ["x"]
  }
}

server "b" {
  share = "session"
  transport "stdio" {
    command = ["x"]
  }
}
