gateway {
  http {
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
    }
    auth "static_token" {
      token   = "s3cr3t-from-env-0123456789abcdef"
      subject = "bob"
    }
  }
}
