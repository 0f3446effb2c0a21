# A server with either of the two HTTP transports. Junctor detects which one, and
# "junctor status auto" shows it.
server "auto" {
  transport "http" {
    url             = env("AUTO_URL", "https://mcp.example.com/sse")
    connect_timeout = "5s"
  }
}
