# says: write the value, or local\.NAME
server "linear" {
  transport "http" {
    url = module.network.url
  }
}
