# A program that is no MCP server, behind a server of a few lines: testdata/wrap
# is its source. The depth cannot be chosen by who calls it.
server "disk" {
  transport "stdio" {
    command = ["../bin/disk-server"]
  }
  tool "usage" {
    pin = { depth = 1 }
  }
}
