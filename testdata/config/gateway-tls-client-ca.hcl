gateway {
  http {
    tls {
      client_ca = "ca.pem"
    }
  }
}
