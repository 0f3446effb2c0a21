gateway {
  http {
    listen = "localhost.example.com:7575"
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
    }
  }
}
