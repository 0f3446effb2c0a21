locals {
  many   = split("", format("%999s", replace(format("%999s", "x"), " ", "ab")))
  wide   = format("%99999999s", "x")
  grow   = replace(format("%999s", ""), " ", format("%999s", format("%999s", "")))
  grows  = replace(replace(format("%999s", ""), " ", format("%999s", "")), " ", "xx")
  joined = join(format("%999s", "x"), split(" ", format("%999s", replace(format("%999s", ""), " ", "  "))))
}
