secret_store "file" {
  path          = ""
  password      = "hunter2"
  password_file = "/run/secrets/junctor"
  password_fd   = 2000
}
