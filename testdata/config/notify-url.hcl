notify {
  webhook       = "alerts.example.com/hook"
  secret        = env("GOOD")
  allow_private = "perhaps"
}
