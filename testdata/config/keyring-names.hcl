plugins {
  required = {
    kitchen = { source = "./kitchen" }
  }
}

locals {
  name = "github"
}

server "a" {
  transport "kitchen" {
    url     = "x"
    token   = keyring("")
    headers = {
      a = keyring("with a space")
      b = keyring(".hidden")
      c = keyring(local.name)
      d = keyring("a${local.name}")
      e = keyring()
      f = keyring("a", "b")
      g = keyring(["a"]...)
      h = keyring(keyring("a"))
      i = keyring(env("API_TOKEN"))
      j = try(keyring(1), "x")
      k = keyrnig("a")
    }
  }
}
