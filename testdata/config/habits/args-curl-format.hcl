# says: write %%\{ for a literal %\{
server "a" {
  transport "stdio" {
    command = ["sh", "-c", "curl -w %{http_code} https://h.example"]
  }
}
