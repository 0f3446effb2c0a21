secret_store "file" {
  password_file = "password"
  password_fd   = 3
  keep {
  }
}
