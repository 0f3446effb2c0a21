# A server with only the transport of 2024-11-05, HTTP with server-sent events.
server "old" {
  transport "sse" {
    url = env("SSE_URL", "https://mcp.example.com/sse")
  }
}
