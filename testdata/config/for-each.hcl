variable "unset" {
  sensitive = true
}
variable "twice" {
  default = 1
}
variable "twice" {
  default = 2
}
variable "a b" {
  default = 1
  type    = "string"
}
server "a" {
  for_each = "eu"
  transport "stdio" {
    command = ["x"]
  }
}
server "b" {
  for_each = [1, 2]
  transport "stdio" {
    command = ["x"]
  }
}
server "c" {
  for_each = ["eu", "us"]
  prefix   = "same"
  transport "stdio" {
    command = ["x"]
  }
}
server "d" {
  for_each = ["eu", "eu", "e u"]
  transport "stdio" {
    command = ["x", each.valeu, var.unsat, var.unset]
  }
}
server "e" {
  for_each = { x = env("X") }
  transport "stdio" {
    command = ["x"]
  }
}
server "f" {
  transport "stdio" {
    command = ["x", each.key]
  }
}
server "g" {
  for_each = ["x"]
  transport "stdio" {
    command = ["x"]
  }
}
server "g_x" {
  transport "stdio" {
    command = ["x"]
  }
}
