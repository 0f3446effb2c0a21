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
  confirm {
    tools = ["h"]
    approver {
      subjects = []
      issuer   = "https://login.example.com"
    }
  }
  confirm {
    tools = ["i"]
    count = 2
    approver {
      subjects = ["bob"]
      issuer   = "https://login.example.com"
    }
    approver {
      subjects = ["bob"]
      issuer   = "https://login.partner.example"
    }
  }
  confirm {
    tools           = ["j"]
    separate_groups = ["team-*"]
    approver {
      subjects = ["carol"]
      groups   = ["leads"]
      tenant   = "default"
      issuer   = "relay"
    }
  }
  confirm {
    tools          = ["k"]
    reason_pattern = "(CHG-[0-9]+)?"
  }
  confirm {
    tools          = ["l"]
    reason_pattern = "^(.?){999}(.?){999}(.?){999}$"
  }
  confirm {
    tools = ["m"]
    count = 2
  }
  confirm {
    tools = ["n"]
    approver {
      roles = ["lead"]
    }
  }
  confirm {
    tools = ["o"]
    approver {
      roles  = ["nobody"]
      issuer = "https://login.example.com"
    }
  }
  role "lead" {
  }
  group "ours" {
    issuer = "https://login.example.com"
    roles  = ["lead"]
  }
  group "theirs" {
    issuer = "https://login.partner.example"
    roles  = ["lead"]
  }
}
