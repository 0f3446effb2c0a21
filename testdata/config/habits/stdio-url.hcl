# says: write transport "http" \{ url = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    url = "https://api.githubcopilot.com/mcp/"
  }
}
