secret_store {
  path = "secrets.age"
}
