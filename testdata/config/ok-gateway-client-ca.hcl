gateway {
  http {
    listen = "[2001:db8::1]:8443"
    tls {
      cert      = "cert.pem"
      key       = "key.pem"
      client_ca = "ca.pem"
    }
  }
}
