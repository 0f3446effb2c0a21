# What a policy can say.
locals {
  organisation = "acme"
  repositories = ["acme/site", "acme/docs"]
}

server "github" {
  transport "http" {
    url = "https://mcp.example.com/mcp"
  }
  tools {
    read    = ["peek_*"]
    confirm = ["create_repository"]
  }
}

server "files" {
  transport "stdio" {
    command = ["files"]
  }
}

gateway {
  http {
    auth "static_token" {
      token   = env("API_TOKEN")
      subject = "ci"
      roles   = ["dev", "devv"]
    }
  }
}

policy {
  default   = "deny"
  mode      = "explain"
  ambiguous = "deny"
  time_zone = "UTC"

  deny {
    tools = ["delete_*"]
  }

  role "dev" {
    allow {
      servers = ["github"]
      access  = "read"
    }
    allow {
      servers = ["github"]
      tools   = ["create_issue"]
      when    = startswith(args.repo, "${local.organisation}/") && !contains(local.repositories, args.repo)
    }
    confirm {
      servers = ["github", "gitlab"]
      tools   = ["merge_*"]
      by      = "client"
      wait    = "30s"
      valid   = "10m"
      when    = args.labels[0] == "urgent" || length(args.labels) > 2 || args["dry run"] != true
    }
  }

  role "reader" {
    allow {
      servers   = ["files"]
      resources = ["file:///pub/*"]
    }
    deny {
      when = within(args.path, "/srv") ? request.hour < 8 : (principal.claims.level >= 3 || request.weekday == "sunday")
    }
  }

  group "engineering" {
    roles = ["dev"]
  }

  subject "alice" {
    tenant = "red"
    issuer = "https://id.example.com"
    roles  = ["dev", "reader"]
    allow {
      prompts = ["*"]
      when    = network(request.address, "10.0.0.0/8") && like(tool, "get_*") && principal.claims.team == null && subset(principal.scopes, ["a", "b"])
    }
  }
}
