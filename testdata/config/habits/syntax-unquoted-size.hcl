# says: "16MiB" for a size
gateway {
  max_memory = 512MiB
}
