server "a" {
  transport "stdio" {
    command = ["x"]
    env     = { TOKEN = sk-live 4711 }
  }
}
