# A module: servers that several configurations use, with values of their own.
variable "region" {
  description = "Where the servers are"
}

server "wiki" {
  enabled = false # an example
  transport "http" {
    url = "https://${var.region}.wiki.example.com/mcp"
  }
}
