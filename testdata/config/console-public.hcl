console {
  listen = "0.0.0.0:7576"
}
