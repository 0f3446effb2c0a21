server "github" {
  transport "stdio" {
    command = ["github"]
  }
}
gateway {
  limits {
    per_tool {
      rate = 50
      wait = "0s"
      timeout = "30s"
    }
    tool "github/create_*" {
      roles = ["batch"]
      rate  = 0
    }
    tool "*/search" {
      concurrent = 2
      wait       = "1s"
      timeout    = "90s"
    }
  }
}
