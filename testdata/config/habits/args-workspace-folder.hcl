# says: write "\.", or the whole path
server "github" {
  transport "stdio" {
    command = ["npx", "-y", "@modelcontextprotocol/server-github"]
    args = ["${workspaceFolder}"]
  }
}
