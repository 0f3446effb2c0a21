plugins {
  required = {
    vault   = { source = "./vault" }
    kitchen = { source = "./kitchen" }
  }
}

server "logged-in" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "oauth" {
    scopes        = ["repo", "read:org"]
    client_id     = "junctor"
    client_secret = env("API_TOKEN")
    issuer        = "https://login.example.com"
  }
  share = "session"
}

server "token" {
  transport "http" {
    url     = "https://b.example.com/mcp"
    headers = { "X-Tenant" = "acme" }
  }
  auth "bearer" {
    env = "B_TOKEN"
  }
  share = "tenant"
}

server "third-party" {
  transport "kitchen" {
    url     = "x"
    headers = { authorization = "its own business" }
  }
  auth "vault/badge" {
  }
}

server "off" {
  enabled = false
  transport "stdio" {
    command = ["x"]
  }
  auth "unknown" {
    token = env("NOT_SET")
  }
}
