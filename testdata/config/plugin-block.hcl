plugins {
  required = { acme = { source = "./acme" } }
}

plugin "acme" {
  isolation = "tenant"
  env       = ["OK", "NOT OK"]
  use       = "stdio"
  mtls      = "auto"
}

plugin "stranger" {
}

plugin "alias" {
  use = "acm"
}

plugin "chained" {
  use = "alias"
}

plugin "not/a/name" {
}
