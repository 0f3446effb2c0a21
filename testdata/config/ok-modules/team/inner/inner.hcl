variable "name" {
  default = "none"
}
server "inner" {
  transport "stdio" {
    command = ["inner", var.name]
  }
}
