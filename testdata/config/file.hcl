server "a" {
  transport "stdio" {
    command = ["x", file("not-there.txt"), file("."), file("/dev/null")]
  }
}
