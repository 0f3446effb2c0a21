# Servers that people log in to. Each is asked once for a browser or a code,
#   junctor login linear
# and the login is kept where secrets are, fresh from then on. Nothing opens a
# browser on its own; "junctor auth status" says who is logged in where.
server "linear" {
  transport "http" {
    url = env("LINEAR_URL", "https://mcp.linear.app/mcp")
  }
  auth "oauth" {
    scopes = ["read"]
  }
  tools {
    read = ["get_*", "list_*"]
  }
}

# A client that was registered by hand, and a login for each who asks.
server "work" {
  transport "http" {
    url = env("WORK_URL", "https://mcp.example.com/mcp")
  }
  auth "oauth" {
    client_id     = env("WORK_CLIENT", "junctor")
    client_secret = keyring("work/client-secret")
    issuer        = env("WORK_ISSUER", "https://login.example.com")
    redirect_url  = "http://127.0.0.1:8090/callback"
  }
  share = "tenant"
}

# No person is needed: the machine has credentials of its own.
server "nightly" {
  transport "http" {
    url = env("NIGHTLY_URL", "https://mcp.example.com/mcp")
  }
  auth "oauth" {
    grant         = "client_credentials"
    client_id     = "nightly"
    client_secret = keyring("nightly/client-secret")
    issuer        = "https://login.example.com"
    scopes        = ["reports:read"]
  }
}
