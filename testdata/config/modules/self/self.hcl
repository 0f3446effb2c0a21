module "again" {
  source = "../self"
}
