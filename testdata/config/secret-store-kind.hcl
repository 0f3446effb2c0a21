plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

secret_store "kitchen" {
}
