gateway {
  http {
    auth "static_token" {
      token   = env("EMPTY")
      subject = "empty variable"
    }
    auth "static_token" {
      token   = file("empty.txt")
      subject = "empty file"
    }
    auth "static_token" {
      token   = ""
      subject = "empty"
    }
    auth "static_token" {
      token   = env("LINES")
      subject = "line break in a variable"
    }
    auth "static_token" {
      token   = "correct horse battery staple"
      subject = "spaces"
    }
    auth "static_token" {
      token   = "correct-horse-\u0007-battery"
      subject = "control character"
    }
    auth "static_token" {
      token   = "pferd-und-kühlschrank"
      subject = "not ASCII"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}${join("", [for i in range(400) : "0123456789abcdef"])}"
      subject = "too long"
    }
    auth "static_token" {
      subject = "none"
    }
    auth "static_token" {
      token   = null
      subject = "null"
    }
    auth "static_token" {
      token   = ["list"]
      subject = "list"
    }
    auth "static_token" {
      token   = env("NOT_SET")
      subject = "not set"
    }
  }
}
