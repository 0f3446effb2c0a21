server "files" {
  transport "stdio" {
    command = ["files"]
  }
}
gateway {
  http {
    listen  = "mcp.example.com:443"
    url     = "https://mcp.example.com/mcp"
    proxies = ["10.0.0.5", "fd00::/64"]
    tls {
      cert               = "server.pem"
      key                = "server.key"
      client_ca          = "clients.pem"
      client_certificate = "optional"
    }
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "ci"
      tenant  = "acme"
    }
    auth "jwt" {
      issuer    = "https://id.example.com/realms/acme"
      audiences = ["https://mcp.example.com/mcp"]
      ca        = "id.pem"
      leeway    = "30s"
      claims {
        tenant = "org_id"
        groups = "realm_access.groups"
      }
    }
    auth "jwt" {
      issuer     = "https://ci.example.com"
      jwks_url   = "https://ci.example.com/keys"
      audiences  = ["junctor"]
      algorithms = ["ES256", "EdDSA"]
      tenant     = "ci"
      claims {
        subject = "workload"
        scopes  = "scp"
      }
    }
    auth "jwt" {
      issuer    = "internal"
      secret    = "${env("LONG_TOKEN")}${env("LONG_TOKEN")}"
      audiences = ["junctor"]
    }
    auth "jwt" {
      issuer    = "offline"
      jwks_file = "keys.json"
      audiences = ["junctor"]
    }
    auth "certificate" {
      name    = "uri"
      names   = ["spiffe://example.com/agent-1", "spiffe://example.com/agent-2"]
      tenants = { "spiffe://example.com/agent-1" = "acme" }
      tenant  = "default"
    }
    auth "forwarded" {
      from   = ["10.0.0.5", "fd00::/64", "unix"]
      user   = "x-forwarded-user"
      groups = "X-Forwarded-Groups"
    }
    auth "forwarded" {
      from          = ["10.0.0.6/32"]
      user          = "X-Remote-User"
      tenant_header = "X-Tenant"
    }
  }
}
