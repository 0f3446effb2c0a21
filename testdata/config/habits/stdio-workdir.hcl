# says: write cwd = 
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    working_directory = "/srv"
  }
}
