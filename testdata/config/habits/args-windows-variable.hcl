# says: write \$\{env\("USERPROFILE"\)\}
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    cwd = "%USERPROFILE%\\projects"
  }
}
