locals {
  n = range(1000)
  x = [for a in local.n : [for b in local.n : [for c in local.n : a * b * c]]]
}
