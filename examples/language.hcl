# The whole language on one page. "junctor validate" reports with its place what
# this version does not have yet, if there is something; the rest works. Set
# JUNCTOR_TOKEN, and first build the plugin in the root of the repository:
#   go build -C testdata/thirdparty -o ../../examples/plugins/junctor-plugin-acme-transport ./acme-transport
plugins {
  required = {
    acme-transport = { source = "./plugins", version = "~> 1.0" } # and sha256 = "..."
  }
}

plugin "apart" { # the stdio plugin once more, in processes of its own
  use       = "stdio"
  isolation = "server"
  env       = ["HTTPS_PROXY"]
}

variable "team" { # JUNCTOR_VAR_team, or else the default
  default     = "platform"
  description = "Whose servers these are"
  sensitive   = false # true: a value from the environment is never printed
}

locals {
  org = "acme"
}

module "eu" { # its servers are called eu_NAME
  source = "./modules/team"
  region = "eu"
}

secret_store "file" {
  path          = "secrets.age"
  password_file = "/run/secrets/junctor" # or password_fd
}

defaults { # for every server; a server's own attribute wins
  share       = "tenant"
  idle        = "adaptive"
  describe    = "full"
  bad_schema  = "replace"
  log_level   = "info"
  definitions = "any"
  trace       = "on"
  context     = ["tenant"]
  timeouts {
    start            = "20s"
    install          = "5m"
    call             = "60s"
    shutdown         = "5s"
    progress_extends = false
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
  share    = "tenant"
  idle     = "adaptive"
  required = false
  enabled  = true

  max_message = "16MiB"
  registry    = "io.github.github/github-mcp-server@0.20.1" # where the block came from
  describe    = "full"                                      # or "brief", "verbatim"
  context     = ["subject", "tenant"]                       # what the server learns about clients, in _meta
  bad_schema  = "replace"                                   # or "hide"
  log_level   = "info"                                      # of the server's messages; or "debug", "notice", "warning", "error", "critical", "alert", "emergency"
  definitions = "first_use"                                 # or "any" (the default), "locked"; see docs/lock.md
  trace       = "on"                                        # or "off": no trace context and no request ids
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
    hidden      = false
    pin         = { owner = local.org }
    default     = { perPage = 20 }
  }
}

server "orders" { # the servers orders_eu and orders_us
  for_each = { eu = "https://eu.example.com/mcp", us = "https://us.example.com/mcp" }
  enabled  = false
  transport "http" {
    url = each.value
  }
}

server "files" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
    env     = { NODE_ENV = "production" } # in addition to LANG of the defaults
  }
}

gateway {
  max_memory      = "512MiB"     # memory of the process; half of it is for messages
  name            = "acme-tools" # of the server that clients see
  request_timeout = "5m"         # of one request of a client
  limits {                       # of the calls of each tool by each tenant
    connections = 1000           # to one server that not all clients share
    per_tool {
      rate       = 100 # calls a second
      burst      = 200
      concurrent = 10
      wait       = "5s"
      timeout    = "60s" # in place of that of the server
    }
    tool "files/write_*" {
      roles      = ["dev"] # for clients with one of these
      rate       = 5
      burst      = 10
      concurrent = 2
      wait       = "0s" # do not wait
      timeout    = "2m"
    }
    per_tenant { # at one time; without these blocks half for one of several
      requests    = 250
      streams     = 500 # listen streams of modern clients
      sessions    = 500
      connections = 128 # to one server that not all clients share
      memory      = "128MiB"
    }
    per_principal {
      rate        = 50 # calls a second, of all tools together
      burst       = 100
      concurrent  = 5
      wait        = "5s"
      requests    = 100
      streams     = 20
      sessions    = 20
      connections = 8
      memory      = "64MiB"
    }
  }
  http {
    listen          = "127.0.0.1:7575"
    url             = "https://mcp.example.com/mcp" # as clients see it
    socket_mode     = "0600"                        # of listen = "unix:PATH"
    origins         = ["http://localhost", "http://127.0.0.1"]
    hosts           = ["mcp.example.com"]
    proxies         = ["10.0.0.0/28"]
    max_body        = "1MiB"
    max_in_flight   = 500
    legacy_sse      = false
    allow_plaintext = false
    timeouts {
      header    = "10s"
      body      = "30s"
      send      = "5s"
      keepalive = "15s"
      drain     = "10s"

      ready_delay = "5s" # readiness fails so long before requests are refused
    }
    per_ip {
      rate        = 60
      burst       = 120
      connections = 256
    }
    sessions {
      store  = "disk" # or "memory"
      max    = 1000
      idle   = "300s"
      life   = "24h"
      events = 10000

      required = false # true: the gateway does not start without the files
    }
    tls {
      cert               = "cert.pem"
      key                = "key.pem"
      client_ca          = "clients.pem"
      client_certificate = "optional" # or "required"
    }
    auth "certificate" {
      name    = "email" # or "common_name", "dns", "uri"
      names   = ["bob@example.com"]
      tenants = { "bob@example.com" = "acme" }
      tenant  = "acme" # of names that tenants does not list
      roles   = ["dev"]
    }
    auth "jwt" {
      issuer     = "https://id.example.com/realms/acme"
      audiences  = ["https://mcp.example.com/mcp"]
      jwks_url   = "https://id.example.com/realms/acme/keys"
      ca         = "ca.pem"
      algorithms = ["RS256", "ES256"]
      leeway     = "60s"
      subjects   = ["carol"]
      claims {
        subject = "sub"
        tenant  = "org"
        groups  = "groups"
        roles   = "realm_access.roles"
        scopes  = "scope"
      }
    }
    auth "jwt" {
      issuer    = "https://ci.example.com"
      audiences = ["https://mcp.example.com/mcp"]
      jwks_file = "keys.json"
      tenant    = "acme"
    }
    auth "jwt" {
      issuer    = "our own programs"
      audiences = ["https://mcp.example.com/mcp"]
      secret    = keyring("jwt")
      tenant    = "acme"
    }
    auth "forwarded" { # the headers of a proxy that has authenticated the user
      from          = ["10.0.0.5"]
      user          = "X-Forwarded-User"
      groups        = "X-Forwarded-Groups"
      tenant_header = "X-Forwarded-Tenant"
      names         = ["dave"]
      roles         = ["dev"]
    }
    auth "static_token" { # last: it takes every token
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
      tenant  = "acme"
      roles   = ["dev"]
    }
  }
}

telemetry {
  metrics { # for Prometheus, at /metrics; traces are exported when OTEL_EXPORTER_OTLP_ENDPOINT is set
    listen       = "127.0.0.1:7577"
    allow_remote = false # true allows an address that others can reach
  }
}

console { # pages for operators; junctor console prints a link
  listen  = "127.0.0.1:7576"
  hosts   = ["console.example.com"]
  admins  = [] # subjects that one auth block only can name; they act
  viewers = [] # see the pages
  admin {      # where several auth blocks could name them
    subjects = ["alice"]
    groups   = ["platform"]
    issuer   = "static_token" # or the issuer of a token
    tenant   = "acme"
  }
  viewer {
    subjects = ["dave"]
    issuer   = "forwarded"
  }
  viewer {
    subjects = ["carol"]
    groups   = ["staff"]
    issuer   = "https://id.example.com/realms/acme"
    tenant   = "acme"
  }

  allow_plaintext = false # true: a proxy in front has TLS
  tls {
    cert = "console.pem"
    key  = "console.key"
  }
}

notify { # tells a webhook of events; see docs/notify.md
  webhook       = "https://alerts.example.com/junctor"
  secret        = keyring("hook")
  events        = ["approval", "quarantine", "tools_changed", "login_failed", "server_down"]
  allow_private = false
}

policy {
  default   = "deny"
  mode      = "hide"  # or "explain": clients are told what is denied
  ambiguous = "write" # or "deny"
  time_zone = "UTC"

  role "dev" {
    issuer = "*" # all that give the role; else the issuer of one
    tenant = "acme"
    allow {
      servers = ["github"]
      access  = "read"
      name    = "github-read"
      reason  = "developers read"
    }
    allow {
      servers   = ["github"]
      resources = ["repo://*"]
      prompts   = ["*"]
    }
    allow {
      servers = ["github"]
      tools   = ["create_issue"]
      when    = startswith(args.repo, "acme/")
    }
    deny {
      tools  = ["delete_*"]
      name   = "no-deletions"                              # in why, the audit log and spans
      reason = "ask the platform team to delete something" # shown with mode = "explain"
    }
    confirm {
      servers = ["files"]
      tools   = ["write_*"]
      access  = "write"
      when    = request.hour < 8
      by      = "approver" # or "client"
      wait    = "2m"
      valid   = "5m"
      covers  = "call" # or "tool", "server"
      grants  = true   # false: it asks those who may use the tool anyway
      name    = "files-at-night"
      reason  = "nobody watches at night"
    }
    confirm {
      resources = ["secret://*"]
      prompts   = ["deploy"]
    }
    confirm { # two people of other teams approve, and say which ticket it is for
      servers         = ["orders_*"]
      tools           = ["refund_*"]
      count           = 2
      separate_groups = ["team-*"]
      require_reason  = true
      reason_pattern  = "CHG-[0-9]+"
      approver {
        groups   = ["finance-leads"]
        roles    = ["dev"]
        subjects = ["alice"]
        issuer   = "https://id.example.com/realms/acme"
        tenant   = "acme"
      }
    }
  }
  group "engineering" {
    issuer = "https://id.example.com/realms/acme"
    tenant = "acme"
    roles  = ["dev"]
  }
  subject "alice" {
    issuer = "static_token" # the kind of an auth block
    tenant = "acme"
    roles  = ["dev"]
  }
  subject "carol" {
    issuer = "https://id.example.com/realms/acme"
    roles  = ["dev"]
  }
  subject "local" { # the command line, and clients on standard input
    allow {
    }
  }
  deny { # for everyone
    resources = ["repo://acme/hr/*"]
  }
}

test "what developers may do" { # junctor test
  principal = {
    subject = "erin"
    tenant  = "acme"
    issuer  = "https://id.example.com/realms/acme"
    method  = "jwt"
    roles   = ["dev"]
    groups  = ["engineering"]
    scopes  = ["mcp"]
    claims  = { org = "acme" }
  }
  request = { # local and now without it
    address = "10.0.0.7"
    client  = "cursor"
    time    = "2026-03-02T07:30"
  }
  call "github" "create_issue" {
    arguments = { repo = "acme/website" }
    expect    = "confirm" # or "allowed", "denied", and "depends" without arguments
  }
  read "github" "repo://acme/hr/salaries" {
    expect = "denied"
  }
  prompt "github" "review" {
    expect = "allowed"
  }
}

servers { # which servers may be used; deny wins
  allow = [{ url = "https://*.example.com/*" }, { name = "github" }, { name = "files" }]
  deny  = [{ name = "old" }, { command = ["npx", "-y", "old"] }]
}

audit { # one row for each request; without file it is in the data directory
  file      = "logs/audit.db"
  output    = "file"
  sync      = "normal"
  on_full   = "drop"
  retention = "90d"
  max_size  = "1024MiB"
  sign_key  = "audit.key"                                          # signs the heads of the chain
  forward   = ["tls://logs.example.com:6514", env("LOG_RECEIVER")] # copies on another machine
  arguments = "full"
  results   = "none"
  redact    = ["github/create_secret", "vault/*"]

  forward_headers = { Authorization = "Bearer ${env("LOG_TOKEN")}" } # for the https target
  forward_ca      = "authorities.pem"
}
