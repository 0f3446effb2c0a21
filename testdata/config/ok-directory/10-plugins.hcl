plugins {
  required = { kitchen = { source = "../kitchen" } }
}

locals {
  url = "http://x"
}
