server "a" {
  transport "stdio" {
    command = ["x"]
  }
  tols {
    allow = ["x"]
  }
}
