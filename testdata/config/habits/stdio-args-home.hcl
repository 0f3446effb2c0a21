# says: write \$\{env\("HOME"\)\} in place of \$HOME
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    args = ["$HOME/projects"]
  }
}
