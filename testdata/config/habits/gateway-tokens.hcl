# says: write auth "static_token" \{ token = env\("NAME"\) \}
gateway {
  http {
    tokens = ["hunter2"]
  }
}
