gateway {
  http {
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "ann"
      roles   = ["readonly"]
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}/bob"
      subject = "bob"
      roles   = []
    }
  }
}
