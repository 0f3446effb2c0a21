audit {
  file      = ""
  output    = "syslog"
  sync      = "ful"
  on_full   = true
  retention = "90"
  max_size  = "12KiB"
  arguments = "none"
  results   = "digest"
  redact    = ["vault", "/x", "vault/", "a/b", "a/b"]
  enabled   = true
}

audit {
}
