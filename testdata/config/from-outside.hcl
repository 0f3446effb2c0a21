plugins {
  required = { kitchen = { source = env("REPO") } }
}

plugin "stdio" {
  env = [env("REPO")]
}

server "a" {
  transport "stdio" {
    command  = [env("REPO")]
    pass_env = [env("REPO")]
  }
  prefix = env("REPO")
  tools {
    allow = ["x", env("REPO")]
  }
  tool "t" {
    name        = env("REPO")
    description = "at ${env("REPO")}"
  }
}

server "b" {
  transport "stdio" {
    command = ["x"]
  }
  protocol = env("REPO")
  timeouts {
    call = env("REPO")
  }
}
