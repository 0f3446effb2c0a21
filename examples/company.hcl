# A company: an identity provider, roles by group, a connection for each tenant, and an
# approval before what cannot be undone. docs/permissions.md explains it.
#
#   junctor policy table
#   junctor test
locals {
  organisation = "acme"
}

defaults {
  share = "tenant"
}

server "code" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}

server "tickets" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}

gateway {
  http {
    listen = "127.0.0.1:7575"
    auth "jwt" {
      issuer    = "https://id.example.com/realms/acme"
      audiences = ["http://127.0.0.1:7575/mcp"]
      claims {
        tenant = "org_id"
        groups = "groups"
      }
    }
  }
}

policy {
  default   = "deny"
  ambiguous = "deny" # a tool that cannot be classified is allowed by name only
  time_zone = "Europe/Berlin"

  deny { # for everyone, whatever else allows it
    servers = ["code"]
    tools   = ["delete_*"]
    when    = !within(args.repo, local.organisation)
  }

  role "reader" {
    allow {
      access = "read"
    }
  }

  role "developer" {
    allow {
      servers = ["code"]
      tools   = ["create_*", "update_*", "comment_*"]
      when    = within(args.repo, local.organisation)
    }
    confirm {
      servers = ["code"]
      tools   = ["delete_*", "merge_*"]
      wait    = "30s"
    }
  }

  role "support" {
    allow {
      servers = ["tickets"]
      tools   = ["reply_ticket"]
      when    = request.hour >= 8 && request.hour < 18 && args.assignee == principal.subject
    }
  }

  group "engineering" {
    roles = ["reader", "developer"]
  }
  group "interns" {
    allow {
      servers = ["code"]
      tools   = ["get_issue", "list_issues"]
      when    = args.repo == "${local.organisation}/handbook"
    }
  }
  group "support" {
    roles = ["reader", "support"]
  }
  subject "local" {
    allow {
    }
  }
}

test "interns read the issues of one repository" {
  principal = { subject = "ivy", groups = ["interns"] }
  call "code" "get_issue" {
    arguments = { repo = "acme/handbook", number = 7 }
    expect    = "allowed"
  }
  call "code" "get_issue" {
    arguments = { repo = "acme/payroll", number = 7 }
    expect    = "denied"
  }
  call "code" "get_file" {
    arguments = { repo = "acme/handbook" }
    expect    = "denied"
  }
}

test "nothing is deleted without an approval" {
  principal = { subject = "dora", groups = ["engineering"] }
  call "code" "delete_branch" {
    arguments = { repo = "acme/site" }
    expect    = "confirm"
  }
  call "code" "delete_branch" {
    arguments = { repo = "other/site" }
    expect    = "denied"
  }
}

test "support replies in working hours" {
  principal = { subject = "sam", groups = ["support"] }
  request   = { time = "2026-03-02T09:30" }
  call "tickets" "reply_ticket" {
    arguments = { assignee = "sam" }
    expect    = "allowed"
  }
}

test "support replies at no other time" {
  principal = { subject = "sam", groups = ["support"] }
  request   = { time = "2026-03-02T22:30" }
  call "tickets" "reply_ticket" {
    arguments = { assignee = "sam" }
    expect    = "denied"
  }
}
