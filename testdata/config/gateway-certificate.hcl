gateway {
  http {
    auth "certificate" {
      name = "cn"
    }
    auth "certificate" {
      names   = ["agent-1", "agent-1", ""]
      tenants = { "agent-2" = "Acme", "agent-1" = null }
    }
    auth "certificate" {
      names = []
    }
    tls {
      client_certificate = "optional"
    }
  }
}
