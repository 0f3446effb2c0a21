server "a" {
  transport "stdio" {
    command = [tostring(tonumber("seven")), upper(), upper("a", "b"), join(",", "x"), base64decode("%%"), jsondecode("{"), min()]
  }
}
