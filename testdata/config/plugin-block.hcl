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

plugin "acme2" {
  use = "acm"
}

plugin "chained" {
  use = "acme2"
}

plugin "not/a/name" {
}
