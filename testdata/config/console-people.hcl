gateway {
  http {
    auth "jwt" {
      issuer    = "https://login.example.com"
      audiences = ["junctor"]
      claims {
        groups = "groups"
      }
    }
    auth "jwt" {
      issuer    = "https://login.partner.example"
      audiences = ["junctor"]
      tenant    = "partner"
      claims {
        groups = "groups"
      }
    }
  }
}

console {
  admins = ["alice"]
  admin {
    issuer = "https://login.example.com"
  }
  viewer {
    groups = ["staff", "staff"]
    roles  = ["admin"]
  }
}
