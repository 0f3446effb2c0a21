server "a" {
  transport "http" {
    url = "https://a.example.com/mcp"
  }
  auth "oauth" {
  }
  auth "bearer" {
    token = "hunter2"
  }
}
