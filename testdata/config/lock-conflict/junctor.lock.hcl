server "a" {
<<<<<<< HEAD
  tool "x" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
=======
  tool "y" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
>>>>>>> other
}
