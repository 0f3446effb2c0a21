# The whole language on one page. What this version does not have yet (confirm
# and policy) is reported, with its place, by "junctor validate"; the rest of the
# page is as it will be. JUNCTOR_TOKEN has to be set, and the plugin of the page
# to be built first, in the root of the repository:
#   go build -C testdata/thirdparty -o ../../examples/plugins/junctor-plugin-acme-transport ./acme-transport
plugins {
  required = {
    acme-transport = { source = "./plugins", version = "~> 1.0" }
  }
}

locals {
  org = "acme"
}

secret_store "file" {
  password_file = "/run/secrets/junctor"
}

defaults { # for every server; what a server says itself wins
  share      = "global"
  idle       = "adaptive"
  describe   = "full"
  bad_schema = "replace"
  timeouts {
    start   = "20s"
    install = "5m"
  }

  # For transports that start programs.
  env      = { LANG = "C.UTF-8" }
  pass_env = ["HTTPS_PROXY"]
}

server "github" {
  transport "acme-transport" {
    address = "127.0.0.1:7801"
  }
  auth "oauth" {
    scopes = ["repo"]
  }

  prefix   = "gh"
  protocol = "auto"
  share    = "global"
  idle     = "adaptive"
  required = false

  max_message = "16MiB"
  describe    = "full"    # or "brief", "verbatim"
  bad_schema  = "replace" # or "hide"
  resources {
    unlisted = false
  }
  timeouts {
    start    = "10s"
    install  = "5m" # instead, for a server that has to be installed first
    call     = "60s"
    shutdown = "5s"

    progress_extends = true # a call's time begins anew with each report
  }

  tools {
    allow   = ["get_*", "list_*", "search_*", "create_issue"]
    deny    = ["*_secret"]
    confirm = ["create_*"]
    read    = ["get_*"]
  }
  tool "search_issues" {
    name        = "issues"
    description = "Search the issues of our organisation."
    pin         = { owner = local.org }
    default     = { perPage = 20 }
  }
}

server "files" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
    env     = { NODE_ENV = "production" } # and LANG of the defaults
  }
}

gateway {
  max_memory = "512MiB" # what the process should take; half of it is for messages
  http {
    listen = "127.0.0.1:7575"
    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }
  }
}

policy {
  default = "deny"
  role "dev" {
    allow {
      servers = ["github"]
      access  = "read"
    }
    allow {
      servers = ["github"]
      tools   = ["create_issue"]
      when    = startswith(args.repo, "acme/")
    }
    deny {
      tools = ["delete_*"]
    }
  }
  subject "alice" {
    roles = ["dev"]
  }
}
