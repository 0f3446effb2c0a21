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
    }
  }
}

console {
  admin {
    subjects = ["alice"]
    groups   = ["platform"]
    issuer   = "https://login.example.com"
  }
  admin {
    subjects = ["root"]
    issuer   = "https://login.example.com"
    tenant   = "default"
  }
  viewer {
    groups = ["staff"] # one issuer gives groups
  }
  viewer {
    subjects = ["auditor"]
    issuer   = "*"
  }
}
