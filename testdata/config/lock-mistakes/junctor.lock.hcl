version = "1"

server "a" {
  definitions = "any"
  tool "twice" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  tool "twice" {
    sha256 = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  tool "short" {
    sha256 = "0123456789abcdef"
  }
  tool "upper" {
    sha256 = "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  tool "absent" {
  }
  tool "number" {
    sha256 = 1
  }
  tool "function" {
    sha256 = file("sum")
  }
  tool "template" {
    sha256 = "${env("SUM")}"
  }
  tool "more" {
    sha256      = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    description = "x"
    schema {
    }
  }
  tool {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  tool "two" "labels" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
  plugin "inside" {
  }
}

server "a" {
}

server {
}

transport "stdio" {
  command = ["x"]
}

plugin "p" {
  version = null
  sha256  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  platform "linux_amd64" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef "
  }
  platform "linux_amd64" {
    sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }
}
