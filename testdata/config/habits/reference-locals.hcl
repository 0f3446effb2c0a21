# says: write local\.NAME
locals {
  host = "mcp.linear.app"
}

server "linear" {
  transport "http" {
    url = "https://${locals.host}/mcp"
  }
}
