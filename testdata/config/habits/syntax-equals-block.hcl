# says: write TYPE "NAME" \{
server "linear" = {
  transport "http" {
    url = "https://mcp.linear.app/mcp"
  }
}
