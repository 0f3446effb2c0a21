gateway "main" {
  listen = "127.0.0.1:7575"
  http {
    origin  = ["http://localhost"]
    tls     = { cert = "cert.pem" }
    timeout = "10s"
    auth "static_token" {
      tokn = "of-nobody"
      role = "dev"
    }
    sessions {
      path = "sessions.db"
    }
  }
  http {
  }
  stdio {
  }
}
