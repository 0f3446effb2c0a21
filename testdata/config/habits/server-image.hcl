# says: command = \["docker", "run", "-i", "--rm", "IMAGE"\]
server "github" {
  image = "ghcr.io/github/github-mcp-server"
}
