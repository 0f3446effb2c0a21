gateway {
  http {
    listen          = ":7575"
    allow_plaintext = true
  }
}
