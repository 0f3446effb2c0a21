gateway {
  http {
    auth "forwarded" {
    }
    auth "forwarded" {
      from = []
      user = "X Forwarded User"
    }
    auth "forwarded" {
      from = ["0.0.0.0/0", "::/0", "10.0.0.5/24", "proxy.example.com", "127.0.0.1"]
      user = "Authorization"
    }
    auth "forwarded" {
      from          = ["10.0.0.5"]
      user          = "X-User"
      groups        = "x-user"
      tenant_header = "Mcp-Tenant"
      tenant        = "acme"
    }
  }
}
