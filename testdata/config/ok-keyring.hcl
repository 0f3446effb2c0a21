plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

locals {
  token = keyring("github/token")
  base  = { HOME = "/", TOKEN = local.token }
}

server "program" {
  transport "stdio" {
    command = ["x"]
    env     = merge(local.base, { KEY = keyring("key"), LANG = "C" })
  }
}

server "remote" {
  transport "http" {
    url     = "https://x.example.com/mcp"
    headers = { Authorization = "Bearer ${local.token}", "X-Two" = join("/", [keyring("a"), keyring("b")]) }
  }
}

server "kitchen" {
  transport "kitchen" {
    url     = "x"
    token   = env("NOT_SET", keyring("fallback"))
    headers = tomap({ for n, v in { a = local.token, b = "x" } : n => "${v}!" })
    bag     = { deep = [1, { t = local.token }] }
    tls {
      ca   = "x"
      pass = coalesce(null, lookup(local.base, "TOKEN", "x"))
    }
  }
  auth "bearer" {
    token = keyring("kitchen")
  }
}

gateway {
  http {
    auth "static_token" {
      token   = keyring("gateway/alice")
      subject = "alice"
    }
  }
}
