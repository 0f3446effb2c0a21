server "a" {
  transport "stdio" {
    command = ["x"]
  }
  protocol = "2025-11-26"
  share    = "globl"
  idle     = "sometimes"
  required = "perhaps"
}
