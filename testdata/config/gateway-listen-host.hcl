gateway {
  http {
    listen = "http://127.0.0.1:7575"
  }
}
