gateway {
  http {
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-0"
      subject = "alice"
      tenant  = "Acme"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-1"
      subject = "alice"
      tenant  = "../acme"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-2"
      subject = "alice"
      tenant  = "a.b"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-3"
      subject = "alice"
      tenant  = "-a"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-4"
      subject = "alice"
      tenant  = "a_"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-5"
      subject = "alice"
      tenant  = ""
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-6"
      subject = "alice"
      tenant  = join("", [for i in range(65) : "a"])
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-7"
      subject = "alice"
      tenant  = "a\u0000b"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-8"
      subject = "alice"
      tenant  = "acmé"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-9"
      subject = "alice"
      tenant  = "%2e%2e"
    }
    auth "static_token" {
      token   = "${env("LONG_TOKEN")}-10"
      subject = "alice"
      tenant  = " acme"
    }
  }
}
