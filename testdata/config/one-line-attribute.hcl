server "a" {
  timeouts { start "5s" }
}
