notify "a" {
  webhook = keyring("hook-url")
  secret  = keyring("hook")
}
