secret_store "keyrnig" {
}
