server "both" {
  transport "http" {
    url     = "https://a.example.com/mcp"
    headers = { Accept-Language = "de", authorization = "Bearer hunter2" }
  }
  auth "oauth" {
  }
}

server "another" {
  transport "http" {
    url     = "https://a.example.com/mcp"
    headers = { Authorization = "Basic aHVudGVyMg==" }
  }
  auth "bearer" {
    token  = env("API_TOKEN")
    header = "X-Api-Key"
  }
}

server "empty" {
  transport "http" {
    url     = "https://a.example.com/mcp"
    headers = { Authorization = "Bearer ${env("EMPTY")}" }
  }
  auth "oauth" {
  }
}
