console {
  listen = "unix:/run/console.sock"
}
