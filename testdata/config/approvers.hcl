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
      claims {
        groups = "groups"
      }
      tenant    = "partner"
    }
  }
}

policy {
  default = "allow"
  confirm {
    tools = ["pay"]
    by    = "client"
    count = 2
  }
  confirm {
    tools = ["transfer"]
    count = 3
    approver {
      subjects = ["carol", "dave"]
      issuer   = "https://login.example.com"
    }
  }
  confirm {
    tools = ["refund"]
    approver {
      groups = ["leads"]
    }
  }
  confirm {
    tools = ["a"]
    count = 11
  }
  confirm {
    tools           = ["b"]
    separate_groups = []
  }
  confirm {
    tools          = ["c"]
    reason_pattern = "CHG-[0-9"
  }
  confirm {
    tools          = ["d"]
    reason_pattern = ""
  }
  role "dev" {
    confirm {
      tools = ["e"]
      approver {
        issuer = "https://login.example.com"
      }
    }
    confirm {
      tools = ["f"]
      approver {
        subjects = ["bob", "bob"]
        issuer   = "https://login.example.com"
        group    = "leads"
      }
    }
  }
  allow {
    tools = ["g"]
    approver {
      groups = ["leads"]
    }
  }
}
