# Behind a proxy on the same machine, which has TLS and the public name.
gateway {
  http {
    listen  = "127.0.0.1:7575"
    hosts   = ["mcp.example.com"]         # what the proxy sends as Host
    origins = ["https://app.example.com"] # pages that may ask; programs send no Origin

    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }
  }
}
