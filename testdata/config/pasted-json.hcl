{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github", "ghp_0123456789abcdef"],
      "env": { "GITHUB_TOKEN": "ghp_secret-in-the-file" }
    },
    "zed": { "url": "https://user:hunter2@mcp.example.com/mcp" }
  }
}
