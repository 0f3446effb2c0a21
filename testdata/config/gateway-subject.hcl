gateway {
  http {
    auth "static_token" {
      token = "0123456789abcdef-1"
    }
    auth "static_token" {
      token   = "0123456789abcdef-2"
      subject = ""
    }
    auth "static_token" {
      token   = "0123456789abcdef-3"
      subject = null
    }
    auth "static_token" {
      token   = "0123456789abcdef-4"
      subject = "alice\nbob"
    }
    auth "static_token" {
      token   = "0123456789abcdef-5"
      subject = "alice\u202ebob"
    }
    auth "static_token" {
      token   = "0123456789abcdef-6"
      subject = join("", [for i in range(257) : "a"])
    }
    auth "static_token" {
      token   = "0123456789abcdef-7"
      subject = env("LONG_TOKEN")
    }
    auth "static_token" {
      token   = "0123456789abcdef-8"
      subject = "alice"
      roles   = ["dev", "", "a\tb", null]
    }
  }
}
