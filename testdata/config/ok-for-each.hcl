# One block for several servers, with variables.
variable "region" {
  default     = "eu"
  description = "Where the company is"
}
variable "replicas" {
  default = 2
}
locals {
  host = "${var.region}.example.com"
}
server "orders" {
  for_each = { eu = "https://eu.example.com/mcp", us = "https://us.example.com/mcp" }
  prefix   = "o-${each.key}"
  transport "http" {
    url     = each.value
    headers = { X-Region = each.key, X-Replicas = "${var.replicas}" }
  }
}
server "logs" {
  for_each = ["a", "b"]
  transport "stdio" {
    command = ["logs", each.value, local.host]
  }
  tools {
    allow = ["${each.key}_*"]
  }
}
server "none" {
  for_each = {}
  transport "stdio" {
    command = ["x"]
  }
}
