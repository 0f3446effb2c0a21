gateway {
  http {
    listen = "127.0.0.1:7575"
  }
}

console {
  listen = "127.0.0.1:7575"
}
