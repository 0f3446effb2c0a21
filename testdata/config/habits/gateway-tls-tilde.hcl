# says: write the whole path
gateway {
  http {
    tls {
      cert = "~/cert.pem"
      key  = "/etc/key.pem"
    }
  }
}
