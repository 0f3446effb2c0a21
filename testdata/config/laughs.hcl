locals {
  a = ["ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha"]
  b = [local.a, local.a, local.a, local.a, local.a, local.a, local.a, local.a, local.a, local.a]
  c = [local.b, local.b, local.b, local.b, local.b, local.b, local.b, local.b, local.b, local.b]
  d = [local.c, local.c, local.c, local.c, local.c, local.c, local.c, local.c, local.c, local.c]
  e = [local.d, local.d, local.d, local.d, local.d, local.d, local.d, local.d, local.d, local.d]
  f = [local.e, local.e, local.e, local.e, local.e, local.e, local.e, local.e, local.e, local.e]
  g = [local.f, local.f, local.f, local.f, local.f, local.f, local.f, local.f, local.f, local.f]
  h = [local.g, local.g, local.g, local.g, local.g, local.g, local.g, local.g, local.g, local.g]
}
