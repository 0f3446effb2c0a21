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
        roles  = "roles"
      }
      tenant    = "partner"
    }
    auth "jwt" {
      issuer    = "https://machines.example.com"
      audiences = ["junctor"]
      subjects  = ["robot"]
      tenant    = "default"
    }
  }
}

policy {
  group "engineering" {
    allow { tools = ["get_*"] }
  }
  group "contractors" {
    tenant = "default"
    roles  = ["reader"]
  }
  role "reader" {
    confirm { tools = ["get_*"] }
  }
  subject "robot" {
    allow { tools = ["get_*"] }
  }
  subject "alice" {
    roles = ["reader"]
  }
  group "engineering" {
    issuer = 7
    allow {}
  }
}
