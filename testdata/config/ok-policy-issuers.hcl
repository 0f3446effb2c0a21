gateway {
  http {
    auth "jwt" {
      issuer    = "https://login.example.com"
      audiences = ["junctor"]
      claims {
        groups = "groups"
        roles  = "roles"
      }
    }
    auth "jwt" {
      issuer    = "https://login.partner.example"
      audiences = ["junctor"]
      claims {
        groups = "groups"
      }
      tenant    = "partner"
    }
    auth "forwarded" {
      from = ["10.0.0.0/8"]
      user = "X-Forwarded-User"
    }
  }
}

policy {
  group "engineering" {
    issuer = "https://login.example.com"
    allow { tools = ["get_*"] }
  }
  group "engineering" {
    issuer = "https://login.partner.example"
    allow { tools = ["get_status"] }
  }
  group "everyone" {
    issuer = "*"
    allow { tools = ["list_*"] }
  }
  group "blocked" {
    deny {}
  }
  role "reader" { # one issuer gives roles
    allow { tools = ["get_*"] }
  }
  subject "alice" {
    issuer = "forwarded"
    tenant = "default"
    allow { tools = ["get_*"] }
  }
  subject "eve" {
    deny {}
  }
  subject "robot" {
    issuer = "certificate"
    roles  = ["reader"]
  }
  subject "local" {
    allow {}
  }
}
