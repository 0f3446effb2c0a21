console "x" {
  listen   = "127.0.0.1"
  hosts    = ["*.example.com"]
  admins   = ["alice", "alice", ""]
  viewers  = "bob"
  password = "secret"
  tls {
    cert = "cert.pem"
  }
  auth "static_token" {
  }
}

console {
}
