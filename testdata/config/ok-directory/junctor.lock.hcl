plugin "x" {
  hashes = []
}
