gateway {
  http {
    listen = env("LONG_TOKEN")
  }
}
