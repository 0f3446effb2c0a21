# Names are any text, and order and comments do not matter.
server "a" {
  tool "for" { sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" }
  tool "$${x} \" \u202e" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
}
server "removed" {}
plugin "p" {
  version = "1.0.0"
  platform "linux_amd64" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
}
