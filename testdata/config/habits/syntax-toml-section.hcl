# says: write a block server "NAME"
[mcp_servers.github]
command = "npx"
