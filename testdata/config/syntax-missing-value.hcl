server "a" {
  prefix =
  share = "global"
}
