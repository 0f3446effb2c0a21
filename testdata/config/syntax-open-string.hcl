server "a" {
  prefix = "gh
  share  = "global"
}
