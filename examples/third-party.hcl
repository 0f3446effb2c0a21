# A transport that somebody else wrote; testdata/thirdparty/acme-transport is its
# source. Build it first, in the root of the repository:
#   go build -C testdata/thirdparty -o ../../examples/plugins/junctor-plugin-acme ./acme-transport
# Then "validate" and "plugin describe acme" work. To call tools, an MCP server has
# to listen at ACME_ADDRESS and speak a message a line.
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
