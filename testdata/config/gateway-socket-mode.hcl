gateway {
  http {
    listen      = "unix:/run/junctor.sock"
    socket_mode = "0777"
  }
}
