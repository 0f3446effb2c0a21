server "a" {
  transport "stdio" { command = ["hunter2"] }
  tools { allow = ["x"], deny = ["y"] }
}
