secret_store "keyring" {
}

secret_store "file" {
  path = "secrets.age"
}
