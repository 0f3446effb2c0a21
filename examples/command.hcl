# A server whose tokens another program prints. Junctor runs the program without a
# shell when it needs a token. It uses the token for half an hour, or until the
# server refuses it.
server "cloud" {
  transport "http" {
    url = env("CLOUD_URL", "https://mcp.example.com/mcp")
  }
  auth "command" {
    command  = ["gcloud", "auth", "print-access-token"]
    format   = "token"
    cache    = "30m"
    timeout  = "20s"
    pass_env = ["HOME", "PATH", "CLOUDSDK_CONFIG"]
  }
}
