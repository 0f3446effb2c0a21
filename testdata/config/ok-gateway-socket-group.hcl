gateway {
  http {
    listen      = "unix:/run/junctor.sock"
    socket_mode = "0660"
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
    }
  }
}
