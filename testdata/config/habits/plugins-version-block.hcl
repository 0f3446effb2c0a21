# says: write required = \{ NAME = \{ source
plugins {
  acme = { source = "./plugins" }
}
