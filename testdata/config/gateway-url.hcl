gateway {
  http {
    url = "https://user@mcp.example.com/mcp?x=1"
  }
}
