plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

locals {
  token = keyring("a")
}

plugin "stdio" {
  env = [keyring("a")]
}

server "argv" {
  transport "stdio" {
    command  = ["x", "--token", local.token]
    args     = ["--token=${keyring("a")}"]
    cwd      = keyring("a")
    pass_env = [keyring("a")]
  }
}

server "settings" {
  transport "kitchen" {
    url      = "https://x?key=${local.token}"
    mode     = local.token
    features = [local.token]
    grace    = local.token
    retries  = local.token
    verify   = local.token
    extra    = { deep = [local.token] }
    file     = local.token
    rule "one" {
      max  = 1
      tags = [local.token]
    }
  }
}

server "host" {
  transport "stdio" {
    command = ["x"]
  }
  prefix      = keyring("a")
  protocol    = keyring("a")
  share       = keyring("a")
  idle        = keyring("a")
  required    = keyring("a")
  max_message = keyring("a")
  timeouts {
    call = keyring("a")
  }
  tools {
    allow = ["x", keyring("a")]
  }
  tool "t" {
    name        = keyring("a")
    description = "a ${keyring("a")}"
    hidden      = keyring("a")
    pin         = { a = keyring("a") }
    default     = { a = [keyring("a")] }
  }
}

server "off" {
  enabled = keyring("a")
  transport "stdio" {
    command = ["x"]
  }
}

gateway {
  http {
    listen        = keyring("a")
    max_in_flight = keyring("a")
    tls {
      cert = keyring("a")
      key  = keyring("a")
    }
    auth "static_token" {
      token   = [keyring("a")]
      subject = keyring("a")
      roles   = [keyring("a")]
    }
  }
}
