server "github" {
  transport "http" {
    url = "https://mcp.example.com/v1"
  }
}
server "old" {
  transport "http" {
    url = "https://old.example.com/v1"
  }
}
server "files" {
  transport "stdio" {
    command = ["mcp-files", "/srv"]
  }
}
server "shell" {
  transport "stdio" {
    command = ["sh", "-c", "mcp-files /srv"]
  }
}
servers {
  allow = [{ url = "https://*.example.com/*" }, { command = ["mcp-files", "/srv"] }, { name = "shell" }]
  deny  = [{ url = "https://old.example.com/*" }]
}
servers {
}
