# Behind a proxy on the same machine that verifies the certificates of clients.
gateway {
  http {
    listen      = "unix:/run/junctor/mcp.sock"
    socket_mode = "0660" # only the proxy is in the group

    auth "forwarded" {
      from    = ["unix"]
      user    = "X-Client-Cert"
      names   = ["CN=agent-1,O=Acme", "CN=agent-2,O=Other"]
      tenants = { "CN=agent-1,O=Acme" = "acme", "CN=agent-2,O=Other" = "other" }
    }
  }
}
