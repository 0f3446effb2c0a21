# says: write auth "oauth" \{
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"

  }
  oauth {
    clientId = "Iv1.0123"
  }
}
