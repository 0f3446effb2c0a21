gateway {
  http {
    listen = "0.0.0.0:7575"
    tls {
    }
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
    }
  }
}
