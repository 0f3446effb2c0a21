plugins {
  requird = {}
  required = {
    acme     = { source = "./acme", versoin = "1" }
    "b/d"    = { source = "./bad" }
    nosource = { version = "1" }
    remote   = { source = "acme.dev/tools/acme" }
    builtin  = { source = "builtin/../x" }
    text     = "./text"
    number   = { source = 5 }
    version  = { source = "./v", version = "about 2" }
    pin      = { source = "./p", sha256 = "abc" }
  }
}
