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

console {
  admin {
    subjects = ["root"]
    issuer   = "https://login.example.com"
  }
}

policy {
  default = "allow"
  confirm {
    tools           = ["refund"]
    count           = 2
    separate_groups = ["team-*"]
    require_reason  = true
    reason_pattern  = "CHG-[0-9]+"
    approver {
      groups = ["leads"]
      issuer = "https://login.example.com"
    }
    approver {
      subjects = ["auditor"]
      groups   = ["auditors"]
      roles    = ["auditor"]
      issuer   = "*"
      tenant   = "partner"
    }
  }
  confirm {
    tools = ["restart"]
    approver {
      subjects = ["local"]
    }
    approver {
      subjects = ["carol", "dave"]
      issuer   = "relay"
    }
  }
}
