gateway {
  http {
  }
}
plugins {
  required = {}
}
policy {
}
locals {
  x = 1
}
