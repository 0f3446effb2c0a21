# says: did you mean "client_id"
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"

  }
  auth "oauth" {
    clientId = "Iv1.0123"
  }
}
