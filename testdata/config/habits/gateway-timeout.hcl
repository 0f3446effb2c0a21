# says: write timeouts \{ body = "30s" \}
gateway {
  http {
    timeout = 30
  }
}
