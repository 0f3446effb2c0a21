plugins {
  required = {
    acme = { source = "./plugins/acme", sha256 = keyring("a") }
  }
}

plugin "acme" {
  isolation = keyring("a")
}
