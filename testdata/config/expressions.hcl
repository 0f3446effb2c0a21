locals {
  twice = { a = 1, a = 2 }
  zero  = 1 / 0
  huge  = "${1e99999}"
  null  = "x${null}"
  text  = "a" + 1
  index = ["a"][3]
  attr  = { a = 1 }.b
  cond  = "x" ? 1 : 2
  each  = [for x in 5 : x]
  keys  = { for x in [1] : null => x }
  dup   = { for x in ["k", "k"] : x => 1 }
}
