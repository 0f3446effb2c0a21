notify {
  webhook = "https://alerts.example.com/junctor"
  secret  = "0123456789abcdef0123"
}
