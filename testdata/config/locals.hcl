locals {
  a = local.b
  b = [local.c]
  c = "${local.a}"
  d = local.c
  e = local.missin
  missing = 1
  self = local.self
  all = keys(local)
}

locals {
  missing = 2
  block {
  }
}
