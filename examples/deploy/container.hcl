# In a container: listens on every address; a proxy in front has TLS.
gateway {
  http {
    listen          = ":7575"
    hosts           = ["mcp.example.com"]
    allow_plaintext = true

    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }
  }
}
