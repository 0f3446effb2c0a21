server "trusting" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "oauth" {
    client_id     = "me"
    client_secret = env("API_TOKEN")
  }
}

server "exchanges" {
  transport "http" {
    url = "https://b.example.com/mcp"
  }
  auth "oauth" {
    subject_token = env("API_TOKEN")
  }
}

server "careful" {
  transport "http" {
    url = "https://c.example.com/mcp"
  }
  auth "oauth" {
    client_id     = "me"
    client_secret = env("API_TOKEN")
    issuer        = "https://login.example.com"
  }
}

server "public" {
  transport "http" {
    url = "https://d.example.com/mcp"
  }
  auth "oauth" {
    client_id = "me"
  }
}
