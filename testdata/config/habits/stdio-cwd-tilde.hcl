# says: write "\$\{env\("HOME"\)\}/
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    cwd = "~/projects"
  }
}
