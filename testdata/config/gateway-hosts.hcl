gateway {
  http {
    hosts = [
      "*",
      "*.example.com",
      "",
      "https://mcp.example.com",
      "mcp.example.com/mcp",
      "mcp.example.com:",
      "mcp.example.com:65536",
      ":7575",
      "mcp example.com",
      "::1",
      "[::1",
      "[mcp.example.com]:80",
      "1.2.3",
    ]
  }
}
