# says: write NAME = VALUE
server "github" {
  "transport": "stdio",
}
