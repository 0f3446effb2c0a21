# A small team without an identity provider: two people with tokens, what each may do, an
# approval, the console, the audit log, and a test of all that. docs/start.md walks through it.
#
#   export ALICE_TOKEN=$(openssl rand -hex 32) BOB_TOKEN=$(openssl rand -hex 32)
#   junctor -c small-team.hcl test
#   junctor -c small-team.hcl serve --http
server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
  tools {
    read = ["add"] # the server says of no tool that it only reads
  }
}

gateway {
  http {
    listen = "127.0.0.1:7575"
    auth "static_token" {
      token   = env("ALICE_TOKEN")
      subject = "alice"
      roles   = ["lead"]
    }
    auth "static_token" {
      token   = env("BOB_TOKEN")
      subject = "bob"
      roles   = ["reader"]
    }
  }
}

policy {
  default = "deny"

  role "reader" {
    allow {
      access = "read"
    }
    confirm { # what may change something waits for an admin of the console, or for you
      access = "write"
      wait   = "5m"
    }
  }
  role "lead" {
    allow {
    }
  }
  subject "local" { # the command line of this machine
    allow {
    }
  }
}

console {
  admins  = ["alice"] # approve calls, restart servers, reload
  viewers = ["bob"]
}

audit {
  retention = "90d"
  arguments = "full" # masked
}

test "a reader reads, and asks for the rest" {
  principal = { subject = "bob", roles = ["reader"] }
  call "demo" "add" {
    expect = "allowed"
  }
  call "demo" "greet" {
    arguments = { name = "Ada" }
    expect    = "confirm"
  }
}

test "a lead does both" {
  principal = { subject = "alice", roles = ["lead"] }
  call "demo" "add" {
    expect = "allowed"
  }
  call "demo" "greet" {
    arguments = { name = "Ada" }
    expect    = "allowed"
  }
}

test "nobody else does anything" {
  principal = { subject = "mallory" }
  call "demo" "add" {
    expect = "denied"
  }
}
