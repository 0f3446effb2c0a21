gateway {
  max_memory = "1024MiB"
  http {
    listen          = "0.0.0.0:7575"
    origins         = ["https://app.example.com", "vscode-webview://abc", "http://[::1]:8080"]
    hosts           = ["MCP.example.com", "10.0.0.1:7575", "[2001:db8::1]:7575", "[2001:db8::1]"]
    max_body        = "16MiB"
    max_in_flight   = 100
    legacy_sse      = true
    allow_plaintext = false
    timeouts {
      header    = "1s"
      body      = "600s"
      send      = "2s"
      keepalive = "20s"
      drain     = "1m"
    }
    per_ip {
      rate  = 0.5
      burst = 10
    }
    sessions {
      store  = "disk"
      max    = 5000
      idle   = "24h"
      life   = "24h"
      events = 100
    }
    tls {
      cert      = "tls/cert.pem"
      key       = "/etc/junctor/key.pem"
      client_ca = "tls/../ca.pem"
    }
    auth "static_token" {
      token   = env("LONG_TOKEN")
      subject = "alice"
      tenant  = "acme-2"
      roles   = ["dev", "ops"]
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}/bob"
      subject = "Bob, in the office"
    }
    auth "static_token" {
      token   = file("token.txt")
      subject = "alice"
    }
  }
}
