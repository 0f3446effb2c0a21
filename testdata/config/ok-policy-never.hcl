# Conditions that are true for no text, and those that only look like it.
server "files" {
  transport "stdio" {
    command = ["files"]
  }
}

policy {
  default = "deny"
  allow {
    tools = ["a"]
    when  = matches(lower(args.name), "README.*")
  }
  allow {
    tools = ["b"]
    when  = matches(args.name, "a$b") || matches(args.name, "x\\bx")
  }
  allow {
    tools = ["c"]
    when  = lower(args.name) == "Admin" || upper(args.name) != "Admin" || "ABC" == lower(args.name)
  }
  allow {
    tools = ["d"]
    when  = startswith(lower(args.name), "Get") || endswith(upper(args.name), "_x") || like(lower(args.name), "*A*")
  }
  confirm {
    tools          = ["e"]
    reason_pattern = "CHG$[0-9]"
  }

  # No warnings:
  allow {
    tools = ["f"]
    when  = matches(lower(args.name), "(?i)README.*") || matches(lower(args.name), "[A-Za-z]+") || matches(lower(args.name), "A|b")
  }
  allow {
    tools = ["g"]
    when  = matches(upper(args.name), "README.*") || matches(args.name, "^README$") || matches(args.name, "a\\b.b") || matches(args.name, "(?m)a$.^b")
  }
  allow {
    tools = ["h"]
    when  = lower(args.name) == "admin" || lower(args.name) == "É" || args.name == "Admin" || lower(args.name) == upper(args.name)
  }
  confirm {
    tools          = ["i"]
    reason_pattern = "^CHG-[0-9]+$"
  }
}
