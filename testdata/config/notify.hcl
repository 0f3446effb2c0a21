notify {
  webhook = "http://alerts.example.com/hook?token=t0psecretvalue"
  secret  = "short"
  events  = ["aproval", "quarantine", "quarantine"]
  retries = 3
}

notify {
  webhook = "https://alerts.example.com"
}
