secret_store "file" {
  path          = "secrets.age"
  password_file = "${env("REPO")}/password"
}
