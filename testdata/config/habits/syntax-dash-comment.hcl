# says: write # in place of --
-- the servers of our team
server "linear" {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
  }
}
