gateway {
  http {
    auth "jwt" {
    }
    auth "jwt" {
      issuer    = "http://id.example.com"
      audiences = []
    }
    auth "jwt" {
      issuer     = "https://id.example.com"
      audiences  = ["a", ""]
      algorithms = []
    }
    auth "jwt" {
      issuer     = "https://id.example.com"
      audiences  = ["a"]
      algorithms = ["none", "RS265", "HS256", "RS256"]
    }
    auth "jwt" {
      issuer     = "internal"
      secret     = "${env("LONG_TOKEN")}${env("LONG_TOKEN")}"
      audiences  = ["a"]
      algorithms = ["HS256", "RS256"]
    }
    auth "jwt" {
      issuer    = "internal"
      secret    = "short"
      audiences = ["a"]
    }
    auth "jwt" {
      issuer    = "https://id.example.com"
      jwks_url  = "https://id.example.com/keys"
      jwks_file = "keys.json"
      secret    = "${env("LONG_TOKEN")}${env("LONG_TOKEN")}"
      audiences = ["a"]
    }
    auth "jwt" {
      issuer    = "https://id.example.com"
      jwks_url  = "http://10.0.0.1/keys"
      audiences = ["a"]
      leeway    = "1h"
      tenant    = "acme"
      claims {
        tenant  = "org_id"
        subject = ""
        rolls   = "groups"
      }
    }
    auth "jwt" {
      issuer    = "https://user:password@id.example.com"
      audiences = ["a"]
      claims {
        roles = "groups"
      }
    }
    auth "jwt" {
      issuer    = "https://other.example.com"
      audiences = ["a"]
      subjects  = []
    }
    auth "jwt" {
      issuer   = "https://id.example.com"
      audience = "a"
    }
  }
}
