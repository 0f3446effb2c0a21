# A server from npm, limited to the tools that read. Install it with
#   npm install -g @modelcontextprotocol/server-filesystem
# or let npx install it: command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
server "files" {
  transport "stdio" {
    command = ["mcp-server-filesystem", "."]
  }
  tools {
    allow = ["read_*", "list_*", "search_files", "get_file_info", "directory_tree"]
    read  = ["*"]
  }
}
