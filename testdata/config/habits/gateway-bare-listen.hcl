# says: write http \{ listen = "127\.0\.0\.1:7575" \}
gateway {
  listen = "127.0.0.1:8080"
}
