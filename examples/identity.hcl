# Four ways to prove who a client is, side by side. The first block that
# recognizes a credential decides. docs/identity.md has recipes for identity
# providers.
#
#   junctor serve --http
gateway {
  http {
    listen = "127.0.0.1:7575"

    # Programs with a token of their own.
    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "ci"
    }

    # People of an identity provider. Its keys are found by discovery.
    auth "jwt" {
      issuer    = "https://id.example.com/realms/acme"
      audiences = ["http://127.0.0.1:7575/mcp"]
      claims {
        groups = "groups"
      }
    }

    # People whom a proxy has logged in. Headers of other peers are ignored.
    auth "forwarded" {
      from   = ["10.0.0.5"]
      user   = "X-Forwarded-User"
      groups = "X-Forwarded-Groups"
    }
  }
}

server "demo" {
  transport "stdio" {
    command = ["../bin/junctor-demo"]
  }
}
