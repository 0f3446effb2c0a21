gateway {
  http {
    listen      = "127.0.0.1:7575"
    socket_mode = "0660"
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
    }
  }
}
