server "a" {
  transport "stdio" {
    command = ["x"]
  }
  tool "one" {
    pin     = { owner = "acme", repo = "x" }
    default = { repo = "y" }
  }
  tool "two" {
    pin     = ["owner"]
    default = "owner"
  }
}
