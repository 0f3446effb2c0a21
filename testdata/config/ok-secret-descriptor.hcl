secret_store "file" {
  password_fd = 3
}
