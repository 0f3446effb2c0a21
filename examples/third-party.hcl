# A transport that is not bundled; its source is testdata/thirdparty/acme-transport.
# Build it first, in the root of the repository:
#   go build -C testdata/thirdparty -o ../../examples/plugins/junctor-plugin-acme-transport ./acme-transport
# Then "validate" and "plugin describe acme-transport" work. Calling tools needs an
# MCP server at ACME_ADDRESS that speaks one message a line.
plugins {
  required = {
    acme-transport = { source = "./plugins", version = ">= 1.0.0" }
  }
}

plugin "acme-transport" {
  isolation = "server" # one process for each server that uses it
}

server "remote" {
  transport "acme-transport" {
    address = env("ACME_ADDRESS", "127.0.0.1:7801")
  }
}
