server "f" {
  transport "stdio" {
    command = ["x", file("included.txt")]
    env     = { HOSTILE = env("HOSTILE"), EMPTY = env("EMPTY"), TEXT = file("./included.txt") }
  }
}
