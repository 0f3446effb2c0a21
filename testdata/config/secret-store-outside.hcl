secret_store "file" {
  path          = env("REPO")
  password_file = keyring("password")
}
