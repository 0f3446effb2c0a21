server "github" {
  transport "stdio" {
    command = ["github"]
  }
}
gateway {
  limits {
    per_tenant {
      requests    = 200
      streams     = 300
      sessions    = 400
      connections = 64
      memory      = "128MiB"
    }
    per_principal {
      requests   = 20
      sessions   = 0
      rate       = 20
      concurrent = 0
      wait       = "0s"
    }
  }
}
