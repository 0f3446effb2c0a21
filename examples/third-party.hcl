# A transport that somebody else wrote; testdata/thirdparty/acme-transport is its
# source. Build it first, in the root of the repository:
#   go build -C testdata/thirdparty -o ../../examples/plugins/junctor-plugin-acme-transport ./acme-transport
# Then "validate" and "plugin describe acme-transport" work. To call tools, an MCP server has
# to listen at ACME_ADDRESS and speak a message a line.
plugins {
  required = {
    acme-transport = { source = "./plugins", version = ">= 1.0.0" }
  }
}

plugin "acme-transport" {
  isolation = "server" # a process for each server that uses it
}

server "remote" {
  transport "acme-transport" {
    address = env("ACME_ADDRESS", "127.0.0.1:7801")
  }
}
