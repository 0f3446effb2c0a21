# Nobody remembers which of the two transports over HTTP this server has: it is
# found out, and "junctor status auto" says which it is.
server "auto" {
  transport "http" {
    url             = env("AUTO_URL", "https://mcp.example.com/sse")
    connect_timeout = "5s"
  }
}
