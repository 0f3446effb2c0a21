gateway {
  http {
    listen = "0.0.0.0:7575"
  }
}

gateway {
}
