# A record of everything that clients do. docs/audit.md explains it.
#
#   junctor audit tail -f
#   junctor audit search --since 30d --denied
#   junctor audit verify
server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
  tools {
    read = ["add"]
  }
}

audit {
  retention = "365d"
  sync      = "full"   # a call is answered after its row is on the disk
  on_full   = "refuse" # no call without a row
  arguments = "full"   # masked; without it a digest
  redact    = ["vault/*"]
}
