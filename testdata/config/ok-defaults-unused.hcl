defaults {
  env      = { LANG = "C" }
  pass_env = ["HOME"]
}

server "a" {
  transport "http" {
    url = "https://mcp.example.com/mcp"
  }
}
