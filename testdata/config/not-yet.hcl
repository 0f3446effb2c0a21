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
