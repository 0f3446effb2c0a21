server "a" {
  transport "http" {
    url = "https://example.com/mcp"
    headers = {
      "X-Good"        = "tab\tand visible ASCII ~"
      "X Bad"         = "space in the name"
      "X-Colon:"      = "colon in the name"
      ""              = "no name"
      "X-Ümlaut"      = "not ASCII"
      "X-Injected\r\nEvil" = "line end in the name"
      Authorization   = "Bearer x\r\nEvil: 1"
      "X-Nul"         = "a\u0000b"
      "X-Unicode"     = "é"
      "X-File"        = file("token.txt")
      "X-Env"         = env("LINES")
      "x-good"        = "twice"
    }
  }
}

server "b" {
  transport "http" {
    url     = "https://example.com/mcp"
    headers = { (env("HOSTILE")) = "a secret name" }
  }
  auth "bearer" {
    header = "X Api Key"
  }
}

server "c" {
  transport "http" {
    url     = "https://example.com/mcp"
    headers = ["Authorization"]
  }
  auth "bearer" {
    header = env("HOSTILE")
  }
}
