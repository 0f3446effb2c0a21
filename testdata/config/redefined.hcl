server "a" {
  prefix = "a"
  prefix = "b"
}
