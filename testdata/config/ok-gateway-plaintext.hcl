gateway {
  http {
    listen          = ":7575"
    allow_plaintext = true
    per_ip {
      rate = 0
    }
    auth "static_token" {
      token   = "literal-of-the-file"
      subject = "alice"
    }
    auth "static_token" {
      token   = "short"
      subject = "bob"
    }
    auth "static_token" {
      token   = env("API_TOKEN")
      subject = "carol"
    }
  }
}
