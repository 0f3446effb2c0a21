defaults {
  share = "global"
}

gateway {
  http {
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
      tenant  = "a"
    }
    auth "static_token" {
      token   = "another-token-0123456789"
      subject = "bob"
      tenant  = "b"
    }
  }
}

server "a" {
  transport "stdio" {
    command = ["x"]
  }
}
