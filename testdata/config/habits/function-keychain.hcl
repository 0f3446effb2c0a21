# says: write keyring\("NAME"\)
server "linear" {
  transport "http" {
    url     = "https://mcp.linear.app/mcp"
    headers = { X-Token = secret("linear") }
  }
}
