gateway {
  http {
    listen = "unix:"
  }
}
