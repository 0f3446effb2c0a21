plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

locals {
  token = keyring("github")
  both  = { a = keyring("a"), b = "b" }
}

server "a" {
  transport "kitchen" {
    url     = "x"
    token   = upper(local.token)
    headers = {
      a = startswith(keyring("a"), "ghp_") ? "x" : "y"
      b = keyring("a") == "x" ? "x" : "y"
      c = keyring("a") ? "x" : "y"
      d = trimspace("Bearer ${local.token}")
      e = format("Bearer %s", keyring("a"))
      f = base64encode("user:${keyring("a")}")
      g = jsonencode({ a = [keyring("a")] })
      h = split(".", local.token)[0]
      i = { a = "x" }[local.token]
      j = join(",", [for t in [local.token] : t if t != ""])
      k = "%{ if local.token == "" }a%{ else }b%{ endif }"
      l = try(lower(keyring("a")), "x")
      m = can(length(keyring("a"))) ? "x" : "y"
      n = lookup({ a = "x" }, local.token, "y")
      o = env(local.token)
      p = file(local.token)
      q = -local.token
      r = !local.token
      s = local.both == {} ? "x" : "y"
      t = contains(values(local.both), "b") ? "x" : "y"
      u = replace("Bearer TOKEN", "TOKEN", keyring("a"))
    }
    extra = { (local.token) = 1 }
    bag   = { for t in [local.token] : t => 1 }
  }
}
