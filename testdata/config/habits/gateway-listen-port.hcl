# says: ^listen on 127\.0\.0\.1, or write tls
gateway {
  http {
    listen = ":8080"
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
    }
  }
}
