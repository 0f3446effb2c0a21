secret_store "keyring" {
  service = "junctor of acme"
}
