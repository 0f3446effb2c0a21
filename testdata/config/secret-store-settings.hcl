plugins {
  required = {
    vault = { source = "./vault" }
  }
}

secret_store "vault" {
  adress = "127.0.0.1:1"
  pin    = ["hunter2"]
}
