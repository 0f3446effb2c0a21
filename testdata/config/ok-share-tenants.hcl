gateway {
  http {
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "ann"
      tenant  = "acme"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}/bob"
      subject = "bob"
      tenant  = "beta"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}/eve"
      subject = "eve"
      tenant  = "acme"
    }
  }
}

server "unsaid" {
  transport "stdio" {
    command = ["x"]
  }
}

server "mixed" {
  share = "global"
  transport "stdio" {
    command = ["x"]
  }
}

server "own" {
  share = "session"
  transport "stdio" {
    command = ["x"]
  }
}
