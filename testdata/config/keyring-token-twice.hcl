gateway {
  http {
    auth "static_token" {
      token   = keyring("gateway/alice")
      subject = "alice"
    }
    auth "static_token" {
      token   = keyring("gateway/alice")
      subject = "bob"
    }
  }
}
