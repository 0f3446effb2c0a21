servr "a" {
  token "s3cr3t" {}
}
