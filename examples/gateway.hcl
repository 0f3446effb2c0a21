# One address for every client: junctor serve --http, then
#
#   junctor export cursor --http
#
# prints what points a client at it. docs/gateway.md says what clients find there.
gateway {
  http {
    listen = "127.0.0.1:7575"

    # Whoever has the token. A second block with another subject lets a second
    # client in, who gets half of everything at most.
    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }

    # Clients that were cut off, or outlive a restart, go on where they were.
    sessions {
      store = "sqlite"
    }
  }
}

server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}
