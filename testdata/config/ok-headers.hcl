server "a" {
  transport "http" {
    url = "https://example.com/mcp"
    headers = {
      Authorization      = "Bearer ${env("LONG_TOKEN")}"
      "X-Late"           = keyring("acme/token")
      "X-Mixed"          = "Bearer ${keyring("acme/token")}"
      "X-Trimmed"        = trimspace(file("token.txt"))
      "!#$%&'*+-.^_`|~9" = "\t all of a token "
      "X-Empty"          = ""
    }
  }
  auth "bearer" {
    header = "X-Api-Key"
  }
}
