plugins {
  required = { acme = { source = "./a" } }
}

plugins {
  required = { acme = { source = "./b" } }
}

plugin "acme" {
}

plugin "acme" {
}
