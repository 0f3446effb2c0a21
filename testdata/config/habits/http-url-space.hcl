# says: remove it: url
server "a" {
  transport "http" {
    url = " https://h.example/mcp"
  }
}
