plugins {
  required = {
    kitchen = { source = "./kitchen", version = "~> 1.2", sha256 = "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef" }
    many    = { source = "/opt/plugins/many", version = ">= 2.0.0-beta.1" }
    unused  = { source = "../elsewhere/unused" }
  }
}

plugin "kitchen" {
  isolation = "server"
  env       = ["HTTPS_PROXY"]
}

plugin "second" {
  use = "kitchen"
}

locals {
  org  = "acme"
  full = "${local.org}/${local["repo"]}"
  repo = "junctor"
}

server "github" {
  transport "kitchen" {
    url      = "https://api.example.com/${local.full}"
    token    = env("API_TOKEN")
    headers  = { Host = "example.com", Authorization = "Bearer ${env("API_TOKEN")}", "X-Plain" = 5 }
    mode     = "careful"
    features = [for f in ["b", "a"] : upper(f)]
    wait     = "1m30s"
    grace    = "2s"
    retries  = 3
    ratio    = 1 / 4
    verify   = false
    extra    = { list = [1, "two", null, { three = true }], big = 9007199254740993 }
    bag      = { a = 1, b = "x", c = [1] }
    vars     = ["B", "A", "B"]
    tls {
      ca   = "ca.pem"
      pass = "hunter2"
    }
    rule "first" {
      max  = 1
      tags = ["x"]
    }
    rule "second" {
      max = 2
    }
  }

  prefix   = "gh"
  protocol = "2025-11-25"
  share    = "global"
  max_message = "64MiB"
  idle     = "5m"
  required = true
  timeouts {
    start    = env("WAIT")
    call     = "10m"
    shutdown = "1s"
  }
  tools {
    allow      = ["get_*", "list_*"]
    deny       = ["*_secret"]
    read       = ["get_*"]
    write      = ["create_*"]
    idempotent = ["list_*"]
  }
  tool "search_issues" {
    name        = "issues"
    description = "Search the issues of our organisation."
    pin         = { owner = local.org, token = env("API_TOKEN") }
    default     = { perPage = 20, nothing = null }
  }
  tool "delete_repo" {
    hidden = true
  }
}

server "again" {
  transport "second/sink" {
    url = "http://localhost"
  }
  prefix = ""
  idle   = "never"
}

server "third" {
  transport "many/one" {
    login {
      user = "alice"
    }
  }
  prefix = ""
}

server "fourth" {
  transport "many/two" {
    colours = ["red"]
    shape   = { w = 1 }
  }
}

server "off" {
  transport "nowhere" {
    url = env("NOT_SET")
  }
  enabled = local.org == "other"
  prefix  = "github__"
}
