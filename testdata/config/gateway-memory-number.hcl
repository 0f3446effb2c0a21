gateway {
  max_memory = 512
}
