server "a" {
  enabled = false
  transport "acme" {
    token = env("NOT_SET")
    wrong = missing()
  }
  idle  = local.nothing
  tools {
    allow = env("NOT_SET")
  }
}
