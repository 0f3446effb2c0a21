gateway {
  http {
    listen = "unix:/run/junctor.sock"
    tls {
      cert = "cert.pem"
      key  = "key.pem"
    }
  }
}
