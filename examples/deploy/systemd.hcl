# Under systemd, behind a proxy on the same machine.
gateway {
  http {
    listen      = "unix:/run/junctor/mcp.sock"
    socket_mode = "0660" # the proxy is in the group
    origins     = ["https://app.example.com"]

    auth "static_token" {
      token   = env("JUNCTOR_TOKEN")
      subject = "alice"
    }
  }
}
