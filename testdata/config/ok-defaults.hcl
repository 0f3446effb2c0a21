defaults {
  share    = "session"
  idle     = "5m"
  describe   = "brief"
  bad_schema = "hide"
  pass_env   = ["HTTPS_PROXY"]
  env        = { LANG = "C.UTF-8", TOKEN = env("API_TOKEN") }
  timeouts {
    start            = "30s"
    install          = "45s"
    call             = "2m"
    progress_extends = true
  }
}

server "takes_all" {
  transport "stdio" {
    command = ["x"]
  }
}

server "overrides" {
  share = "global"
  idle  = null
  transport "stdio" {
    command  = ["x"]
    env      = { TOKEN = "own", MORE = "1" }
    pass_env = []
  }
  timeouts {
    start = "1m"
    call  = "10s"
  }
}

server "has_no_env" {
  transport "http" {
    url = "https://mcp.example.com/mcp"
  }
  auth "bearer" {
    env = "TOKEN_NAME"
  }
}

server "off" {
  enabled = false
  transport "stdio" {}
}
