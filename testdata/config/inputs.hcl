# One load reports every variable and file that is missing.
locals {
  first  = env("MISSING_1")
  second = "${local.first}-${env("MISSING_2")}"
}

server "a" {
  transport "stdio" {
    command = ["run", upper(trimspace(env("MISSING_3"))), jsondecode(file("missing-4")).x]
    env = {
      LOCAL  = local.first
      BOTH   = format("%s %s", env("MISSING_5"), env("MISSING_6"))
      TYPO   = uper(env("MISSING_7"))
      UNUSED = try(env("MISSING_BUT_TRIED"), upper(env("MISSING_8", "given")))
    }
  }
}

server "b" {
  transport "unknown" {
    key = env("MISSING_9")
  }
}
