# says: write var\.NAME
variable "host" {
  default = "mcp.linear.app"
}

server "linear" {
  transport "http" {
    url = "https://${variable.host}/mcp"
  }
}
