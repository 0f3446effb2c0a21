audit {
  output    = "stdout"
  file      = "audit.db"
  sync      = "full"
  retention = "99999d"
  max_size  = "1MiB"
}
