# says: write listen = "127\.0\.0\.1:8080"
gateway {
  http {
    listen = 8080
  }
}
