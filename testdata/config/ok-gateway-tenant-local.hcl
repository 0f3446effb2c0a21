gateway {
  http {
    auth "static_token" {
      token   = env("API_TOKEN")
      subject = "ann"
      tenant  = "local"
    }
  }
}
