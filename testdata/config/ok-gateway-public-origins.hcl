gateway {
  http {
    listen  = "[::]:7575"
    origins = []
    tls {
      cert      = "cert.pem"
      key       = "key.pem"
      client_ca = "ca.pem"
    }
  }
}
