# says: env = \{ NAME = env\("NAME"\) \}, or pass_env
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  }
  envFile = ".env"
}
