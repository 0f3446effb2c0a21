# says: write listen = "127\.0\.0\.1:8080", without a scheme
gateway {
  http {
    listen = "http://127.0.0.1:8080"
  }
}
