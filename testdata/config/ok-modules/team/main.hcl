variable "region" {
}
variable "base" {
  description = "Where the servers are"
}
variable "replicas" {
  default = 1
}
variable "tags" {
  default = []
}
locals {
  base = "${var.base}/${var.region}"
}
defaults {
  timeouts {
    call = "${10 * var.replicas}s"
  }
}
server "orders" {
  transport "http" {
    url = "${local.base}/orders"
  }
}
server "logs" {
  for_each = var.tags
  transport "stdio" {
    command = ["logs", each.value]
  }
}
module "deep" {
  source = "./inner"
  name   = var.region
}
