server "github" {
  max_message = "8MiB"
  transport "stdio" {
    command = ["github"]
  }
}
gateway {
  limits {
    per_tenant {
      requests = -1
      streams  = "many"
      sessions = 1.5
      memory   = "512KiB"
      request  = 1
    }
    per_principal {
      rate        = -1
      burst       = 0
      concurrent  = 1.5
      wait        = "2m"
      timeout     = "1s"
      connections = 1000000
      memory      = "4MiB"
    }
    per_principal "alice" {
    }
  }
}
