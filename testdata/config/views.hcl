server "a" {
  transport "stdio" {
    command = ["x"]
  }
  tool "one" {
    name = "same"
  }
  tool "two" {
    name = "same"
  }
  tool "same" {
  }
  tool "one" {
    hidden = true
  }
  tool "four" {
    name = "not a name"
  }
  tool "" {
    hide = true
  }
}
