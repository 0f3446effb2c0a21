server "git" {
  transport "stdio" {
    command = ["mcp-git"]
  }
}
