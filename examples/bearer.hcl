# A server that requires a token, such as an API key. On a build machine TOKEN is
# in the environment. Elsewhere store it once:
#   junctor secret set remote/token
# The token is sent to this server only and is never shown. "junctor status" says
# when the server refused it.
server "remote" {
  transport "http" {
    url = env("REMOTE_URL", "https://mcp.example.com/mcp")
  }
  auth "bearer" {
    token = env("TOKEN", keyring("remote/token"))
  }
}
