# In a container: every address, and TLS ends before Junctor.
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
