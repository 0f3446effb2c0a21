# Two uses of one module, which uses another one.
locals {
  base = "https://example.com"
}
module "eu" {
  source   = "./team"
  region   = "eu"
  base     = local.base
  replicas = "3"
  tags     = ["a", "b"]
}
module "us" {
  source = "./team"
  region = "us"
  base   = "https://us.example.com"
}
server "own" {
  transport "stdio" {
    command = ["own"]
  }
}
