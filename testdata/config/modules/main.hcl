locals {
  there = "./good"
}
module "none" {
}
module "computed" {
  source = local.there
}
module "absent" {
  source = "./absent"
}
module "file" {
  source = "./main.hcl"
}
module "self" {
  source = "./self"
}
module "good" {
  source  = "./good"
  nmae    = "x"
  count   = "many"
  secret  = local.nowhere
  version = "1.0"
}
module "good" {
  source = "./good"
  name   = "twice"
}
module "a b" {
  source = "./good"
  name   = "x"
}
module "nested" {
  source = "./good"
  name   = "x"
  providers {
  }
}
module "bad" {
  source = "./bad"
}
module {
  source = "./good"
}
server "uses" {
  transport "stdio" {
    command = [module.good.name, var.name]
  }
}
