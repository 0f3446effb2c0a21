# A server whose tokens another program obtains. It is run without a shell when a
# token is needed, and its output is used for half an hour or until the server
# refuses it, whichever is first.
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
