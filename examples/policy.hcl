# One person, and programs that are trusted less: who may use what, and with which
# arguments. docs/permissions.md explains it.
#
#   junctor why local demo/greet name=Ada
#   junctor test
server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
  tools {
    read    = ["add"]
    confirm = ["fail"] # a person must approve each call: junctor approvals
  }
}

gateway {
  http {
    listen = "127.0.0.1:7575"
    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "ci"
      roles   = ["robot"]
    }
  }
}

policy {
  default = "deny"

  subject "local" { # the command line, and clients on standard input
    allow {
    }
  }

  role "robot" {
    allow {
      access = "read"
    }
    allow {
      servers = ["demo"]
      tools   = ["greet"]
      when    = contains(["en", "de"], args.language) && args.name != "root"
    }
  }
}

test "robots" {
  principal = { subject = "ci", roles = ["robot"] }
  call "demo" "add" {
    expect = "allowed"
  }
  call "demo" "greet" {
    arguments = { name = "Ada", language = "de" }
    expect    = "allowed"
  }
  call "demo" "greet" {
    arguments = { name = "root", language = "de" }
    expect    = "denied"
  }
  call "demo" "fail" {
    expect = "denied" # the role does not allow it; you are asked
  }
}
