plugins {
  required = {
    kitchen = { source = "./kitchen" }
    many    = { source = "./many" }
  }
}

server "a" {
  transport "kitchen" {
    url = "x"
    tls {
      ca = "a"
    }
    tls {
      ca = "b"
    }
    rule "x" {
      maxx = 1
    }
  }
}

server "b" {
  transport "many/one" {
  }
}

server "c" {
  transport "many/two" {
    colours = ["red", "gren"]
    shape   = { h = 1 }
  }
}

server "d" {
  transport "many/three" {
    odd = 1
  }
}
