server "a" {
  transport "stdio" {
    command = ["sh", "-c", "echo $HOME"]
    cwd     = "$HOME/x"
    env = {
      ALL   = "$TOKEN"
      PART  = "id=$CLIENT_ID;x"
      PRICE = "5$ and $1"
      LOWER = "$path"
    }
  }
}

server "b" {
  transport "http" {
    url = "https://mcp.example.com/mcp"
    headers = {
      Authorization = "Bearer $API_TOKEN"
      X-Plain       = "Bearer ${env("API_TOKEN")}"
    }
  }
}
