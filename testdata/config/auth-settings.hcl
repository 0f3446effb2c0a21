server "a" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "oauth" {
    scope         = ["repo"]
    scopes        = "repo"
    client_secret = "hunter2"
  }
}

server "b" {
  transport "http" {
    url = "https://b.example.com/mcp"
  }
  auth "bearer" {
    token  = ["hunter2"]
    header = null
    tls {
    }
  }
}

server "c" {
  transport "http" {
    url = "https://c.example.com/mcp"
  }
  auth "bearer" {
    token = env("NOT_SET")
    env   = "C_TOKEN"
  }
}
