# says: remove it: a list is enough
server "orders" {
  for_each = toset(["eu", "us"])
  transport "http" {
    url = "https://${each.key}.example.com/mcp"
  }
}
