# A team behind an identity provider: tenants from a claim, limits for each tenant
# and tool, and a connection for each tenant. docs/identity.md explains it.
#
#   junctor serve --http
defaults {
  share = "tenant"
}

gateway {
  limits {
    per_tool {
      rate       = 20
      concurrent = 4
      wait       = "5s"
    }
    tool "demo/slow*" {
      concurrent = 1
      timeout    = "2m"
    }
  }
  http {
    listen = "127.0.0.1:7575"
    auth "jwt" {
      issuer    = "https://id.example.com/realms/acme"
      audiences = ["http://127.0.0.1:7575/mcp"]
      claims {
        tenant = "org_id"
        groups = "groups"
      }
    }
    sessions {
      store = "disk"
    }
  }
}

server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}
