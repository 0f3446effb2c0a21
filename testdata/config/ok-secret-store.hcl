plugins {
  required = {
    vault = { source = "./vault" }
  }
}

secret_store "vault" {
  address = "127.0.0.1:1"
  pin     = env("API_TOKEN")
}
