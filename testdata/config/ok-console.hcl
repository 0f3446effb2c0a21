gateway {
  http {
    auth "static_token" {
      token   = "0123456789abcdef0123456789abcdef"
      subject = "alice"
    }
    auth "static_token" {
      token   = "fedcba9876543210fedcba9876543210"
      subject = "bob"
    }
  }
}

console {
  listen  = "0.0.0.0:8443"
  hosts   = ["Console.example.com"]
  admins  = ["alice"]
  viewers = ["bob"]
  tls {
    cert = "cert.pem"
    key  = "key.pem"
  }
}
