# says: write \$\{env\("NAME"\)\} or \$\{keyring\("NAME"\)\}
server "linear" {
  transport "http" {
    url     = "https://mcp.linear.app/mcp"
    headers = { X-Token = "${{ secrets.TOKEN }}" }
  }
}
