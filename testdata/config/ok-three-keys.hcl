# Tools that run only with three keys: the server exports the tool, the client has the role, and a
# rule of the role names the tool and bounds its arguments. Everything else does not exist.
server "agents" {
  transport "stdio" {
    command = ["agents"]
  }
  tools {
    allow = ["list_*", "run_agent", "send_message"] # the first key
  }
}

# A second gateway: its tools are offered here only by name.
server "partner" {
  transport "http" {
    url = "https://mcp.partner.example.com/mcp"
  }
  tools {
    allow = ["git__git_*"]
  }
}

gateway {
  http {
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "ci"
      roles   = ["operator"] # the second key
    }
  }
}

policy {
  default = "deny"
  role "reader" {
    allow {
      access = "read"
    }
  }
  role "operator" {
    allow { # the third key
      tools = ["run_agent", "delete_agent"]
      when  = contains(["builder", "tester"], args.delegate) && startswith(args.target, "https://hooks.example.com/")
    }
    allow {
      servers = ["partner"]
      tools   = ["git__git_status"]
    }
  }
}

test "all three keys" {
  principal = { subject = "ci", roles = ["operator"] }
  call "agents" "run_agent" {
    arguments = { delegate = "builder", target = "https://hooks.example.com/a" }
    expect    = "allowed"
  }
  call "partner" "git__git_status" {
    expect = "allowed"
  }
}

test "the server does not export the tool" {
  principal = { subject = "ci", roles = ["operator"] }
  call "agents" "delete_agent" {
    expect = "denied"
  }
  call "partner" "mail__send" {
    expect = "denied"
  }
}

test "the client does not have the role" {
  principal = { subject = "bob", roles = ["reader"] }
  call "agents" "run_agent" {
    expect = "denied"
  }
  call "partner" "git__git_status" {
    expect = "allowed" # it reads, and reader may read
  }
}

test "no rule names the tool" {
  principal = { subject = "ci", roles = ["operator"] }
  call "agents" "send_message" {
    expect = "denied"
  }
  call "partner" "git__git_commit" {
    expect = "denied"
  }
}

test "another delegate, and another target" {
  principal = { subject = "ci", roles = ["operator"] }
  call "agents" "run_agent" {
    arguments = { delegate = "root", target = "https://hooks.example.com/a" }
    expect    = "denied"
  }
  call "agents" "run_agent" {
    arguments = { delegate = "builder", target = "https://evil.example.com/" }
    expect    = "denied"
  }
}
