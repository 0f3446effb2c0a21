server "a" {
  transport "stdio" {
    command = [git, local.nothing, uper("x"), try(oops, "x"), local]
  }
  share = global
}
