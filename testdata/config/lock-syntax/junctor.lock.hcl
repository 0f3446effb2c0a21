server "a" {
  tool "x" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
  }
}
