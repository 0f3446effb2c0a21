variable "name" {
}
variable "count" {
  default = 1
}
variable "secret" {
  default = "none"
}
server "one" {
  transport "stdio" {
    command = [var.name, local.there]
  }
}
