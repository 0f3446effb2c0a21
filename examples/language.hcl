# The whole language on one page. "junctor validate" reports with its place what
# this version does not have yet, if there is something; the rest works. Set
# JUNCTOR_TOKEN, and first build the plugin in the root of the repository:
#   go build -C testdata/thirdparty -o ../../examples/plugins/junctor-plugin-acme-transport ./acme-transport
plugins {
  required = {
    acme-transport = { source = "./plugins", version = "~> 1.0" }
  }
}

variable "team" { # JUNCTOR_VAR_team, or else the default
  default     = "platform"
  description = "Whose servers these are"
}

locals {
  org = "acme"
}

module "eu" { # its servers are called eu_NAME
  source = "./modules/team"
  region = "eu"
}

secret_store "file" {
  password_file = "/run/secrets/junctor"
}

defaults { # for every server; a server's own attribute wins
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
  enabled  = true

  max_message = "16MiB"
  registry    = "io.github.github/github-mcp-server@0.20.1" # where the block came from
  describe    = "full"                                      # or "brief", "verbatim"
  context     = ["subject", "tenant"]                       # what the server learns about clients, in _meta
  bad_schema  = "replace"                                   # or "hide"
  resources {
    unlisted = false
  }
  timeouts {
    start    = "10s"
    install  = "5m" # replaces start for launchers such as npx
    call     = "60s"
    shutdown = "5s"

    progress_extends = true # each progress notification restarts the call's time
  }

  tools {
    allow      = ["get_*", "list_*", "search_*", "create_issue"]
    deny       = ["*_secret"]
    confirm    = ["create_*"]
    read       = ["get_*"]
    write      = ["create_*"]
    idempotent = ["list_*"]
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
    env     = { NODE_ENV = "production" } # in addition to LANG of the defaults
  }
}

gateway {
  max_memory = "512MiB" # memory of the process; half of it is for messages
  limits {              # of the calls of each tool by each tenant
    per_tool {
      rate       = 100 # calls a second
      burst      = 200
      concurrent = 10
      wait       = "5s"
    }
    tool "files/write_*" {
      rate    = 5
      timeout = "2m"
    }
    per_tenant { # at one time; without these blocks half for one of several
      requests    = 250
      streams     = 500 # listen streams of modern clients
      sessions    = 500
      connections = 128 # to one server that not all clients share
      memory      = "128MiB"
    }
    per_principal {
      requests = 100
    }
  }
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
  subject "local" { # the command line, and clients on standard input
    allow {
    }
  }
}
