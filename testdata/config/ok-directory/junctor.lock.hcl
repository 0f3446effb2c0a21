plugin "x" {
  platform "linux_amd64" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
}
