# says: remove it: the label of the transport says it
server "linear" {
  type = "http"
  url  = "https://mcp.linear.app/mcp"
}
