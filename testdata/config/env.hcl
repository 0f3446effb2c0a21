server "a" {
  transport "stdio" {
    command = ["x", env("NOT_SET")]
    env     = { A = env("NOT_SET_EITHER"), B = env(), C = env("A", "B", "C") }
  }
}
