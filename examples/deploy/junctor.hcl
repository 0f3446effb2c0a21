# Behind a proxy on the same machine that has TLS and the public name.
gateway {
  http {
    listen  = "127.0.0.1:7575"
    hosts   = ["mcp.example.com"]         # the Host that the proxy sends
    origins = ["https://app.example.com"] # allowed web pages; programs send no Origin

    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }
  }
}
