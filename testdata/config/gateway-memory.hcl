gateway {
  max_memory = "127MiB"
}
