# A server that wants a token which a person made, such as an API key. On a build
# machine it is in the environment; elsewhere it is kept where secrets are:
#   junctor secret set remote/token
# The token is sent to this server only, is never shown, and "junctor status" says
# when the server refused it.
server "remote" {
  transport "http" {
    url = env("REMOTE_URL", "https://mcp.example.com/mcp")
  }
  auth "bearer" {
    token = env("TOKEN", keyring("remote/token"))
  }
}
