audit {
  file      = "logs/audit.db"
  sync      = "full"
  on_full   = "refuse"
  retention = "30d"
  max_size  = "512MiB"
  arguments = "full"
  results   = "full"
  redact    = ["vault/*", "github/create_secret"]
}

server "a" {
  transport "stdio" {
    command = ["a"]
  }
}
