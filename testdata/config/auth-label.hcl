server "a" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth {
    token = "hunter2"
  }
}

server "b" {
  transport "http" {
    url = "https://b.example.com/mcp"
  }
  auth "oauth" "again" {
  }
}

server "c" {
  transport "http" {
    url = "https://c.example.com/mcp"
  }
  auth = "oauth"
}
