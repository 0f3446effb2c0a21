# One address for all clients. Start it, then print the entry for a client:
#
#   junctor serve --http
#   junctor export cursor --http
#
# docs/gateway.md has endpoints, limits and statuses.
gateway {
  http {
    listen = "127.0.0.1:7575"

    # Admits clients that send the token. A second block with another subject
    # admits a second client; each then gets at most half of every limit.
    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }

    # Sessions and streams continue after a disconnect or a restart.
    sessions {
      store = "disk"
    }
  }
}

server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}
