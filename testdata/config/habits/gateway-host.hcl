# says: write listen = "127\.0\.0\.1:7575"
gateway {
  http {
    host = "127.0.0.1"
  }
}
