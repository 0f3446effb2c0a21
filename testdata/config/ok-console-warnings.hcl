gateway {
  http {
    auth "static_token" {
      token   = "0123456789abcdef0123456789abcdef"
      subject = "alice"
    }
  }
}

console {
  listen          = "192.0.2.1:7576"
  admins          = ["alice", "alicia"]
  viewers         = ["alice"]
  allow_plaintext = true
}
