# Servers that require a login. Log in once, in a browser or with a code:
#   junctor login linear
# The login is kept in the secret store and refreshed automatically. Junctor never
# opens a browser unasked; "junctor auth status" shows who is logged in where.
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

# A client registered by hand, and a login for each tenant.
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

# No login by a person: the machine has its own credentials.
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
