# A server elsewhere, over streamable HTTP. TOKEN is sent with every request and
# never shown. A plain http:// address of another machine is refused.
server "remote" {
  transport "http" {
    url     = env("REMOTE_URL", "https://mcp.example.com/mcp")
    mode    = "streamable"
    headers = { Authorization = "Bearer ${env("TOKEN", "none")}" }
  }
  tools {
    read = ["get_*", "list_*"] # calls that may be repeated when the server is busy
  }
}
