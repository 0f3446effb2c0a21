plugins {
  required = ["acme"]
}

server "a" {
  transport "acme" {
  }
}
