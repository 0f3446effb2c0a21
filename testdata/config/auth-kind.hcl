plugins {
  required = {
    kitchen = { source = "./kitchen" }
    vault   = { source = "./vault" }
  }
}

server "misspelt" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "ouath" {
  }
}

server "unknown" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "kerberos" {
  }
}

server "transport" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "kitchen" {
  }
}

server "store" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "keyring" {
  }
}

server "several" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "vault" {
  }
}

server "component" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "vault/tickt" {
  }
}

server "slash" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "vault/" {
  }
}

server "missing" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "command" {
  }
}

server "backwards" {
  transport "oauth" {
  }
}
