gateway {
  http {
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "ann"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}/bob"
      subject = "bob"
    }
  }
}

server "unsaid" {
  transport "stdio" {
    command = ["x"]
  }
}
