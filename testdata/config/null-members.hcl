server "a" {
  transport "stdio" {
    command = ["a"]
  }
}
servers {
  deny = [{ command = [null] }, { name = null }, { command = ["b", null] }]
}
policy {
  subject "local" {
    allow {}
  }
}
test "members that are null" {
  principal = { subject = null, roles = null, claims = null }
  call "a" "x" {
    expect = "denied"
  }
}
test "elements that are null" {
  principal = { subject = "a", roles = [null] }
  call "a" "x" {
    expect = "denied"
  }
}
