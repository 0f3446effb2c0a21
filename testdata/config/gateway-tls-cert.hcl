gateway {
  http {
    tls {
      cert = "cert.pem"
    }
  }
}
