plugins {
  required = {
    vault = { source = "./vault" }
  }
}

locals {
  pin = keyring("vault/pin")
}

secret_store "vault" {
  address = "127.0.0.1:1"
  pin     = local.pin
}
