server "a" {
  enabled = "off"
  transport "nowhere" {
  }
}
