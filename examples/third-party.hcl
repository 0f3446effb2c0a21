# A transport that somebody else wrote: junctor-plugin-acme in ./plugins.
# testdata/thirdparty/acme-transport is its source.
plugins {
  required = {
    acme = { source = "./plugins", version = ">= 1.0.0" }
  }
}

plugin "acme" {
  isolation = "server" # a process for each server that uses it
}

server "remote" {
  transport "acme" {
    address = env("ACME_ADDRESS", "127.0.0.1:7801")
  }
}
