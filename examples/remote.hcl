# A server somewhere else, over streamable HTTP. TOKEN is sent with every request
# and never shown; a plain http:// address of another machine would be refused.
server "remote" {
  transport "http" {
    url     = env("REMOTE_URL", "https://mcp.example.com/mcp")
    mode    = "streamable"
    headers = { Authorization = "Bearer ${env("TOKEN", "none")}" }
  }
  tools {
    read = ["get_*", "list_*"] # these may be asked again when the server is busy
  }
}
