server "b" {
  transport "kitchen" {
    url = local.url
  }
}
