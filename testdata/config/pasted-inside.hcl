server "one" {
  transport "stdio" {
    command = ["one"]
  }
}

"mcpServers": {
  "github": {
    "command": "npx", // a comment
    "args": ["-y", "@modelcontextprotocol/server-github", "ghp_0123456789abcdef"],
    "env": { "GITHUB_TOKEN": "ghp_secret-in-the-file" },
  }
}

server "two" {
  transport "stdio" {
    command = ["two"]
  }
}
