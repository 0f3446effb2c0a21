defaults {
  env = { TOKEN = keyring("github/token"), PLAIN = "x" }
}

server "a" {
  transport "stdio" {
    command = ["x"]
  }
}
