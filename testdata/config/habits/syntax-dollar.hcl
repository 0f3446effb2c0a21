# says: write env\("NAME"\) in place of \$NAME
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
    headers = { X-Token = $LINEAR_TOKEN }
  }
}
