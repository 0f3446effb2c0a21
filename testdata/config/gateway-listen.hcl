gateway {
  http {
    listen = "7575"
  }
}
