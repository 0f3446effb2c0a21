# says: write scopes = \["\.\.\.", "\.\.\."\]
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"

  }
  auth "oauth" {
    scopes = "read write"
  }
}
