gateway {
  http {
    tls {
      cert = null
      key  = "key.pem"
    }
  }
}
