notify {
  webhook       = "http://127.0.0.1:9000/hook"
  secret        = keyring("hook")
  events        = ["approval", "server_down"]
  allow_private = true
}
