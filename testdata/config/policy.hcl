# Mistakes in policies.
server "s" {
  transport "stdio" {
    command = ["s"]
  }
}

policy {
  default   = "ask"
  mode      = "quiet"
  time_zone = "Mars/Olympus"

  role "dev" {
    allow {
      server = "s"
    }
    allow {
      tools  = []
      access = "writes"
    }
    deny {
      when = arg.x == 1
    }
    deny {
      when = args.x + 1 == 2
    }
    deny {
      when = contains([for x in args.list : x.name], "a")
    }
    deny {
      when = args.list[*].name == "a"
    }
    deny {
      when = "${args.x}/" == "a/"
    }
    deny {
      when = principal.name == "alice"
    }
    deny {
      when = server.name == "s"
    }
    deny {
      when = startwith(args.x, "a")
    }
    deny {
      when = startswith(args.x)
    }
    deny {
      when = contains("text", args.x)
    }
    deny {
      when = network(request.address, "10.0.0.0")
    }
    deny {
      when = args.x == env("API_TOKEN")
    }
    deny {
      when = args.x == { a = 1 }
    }
    deny {
      when = args[args.y] == 1
    }
    deny {
      resources = ["*"]
      when      = args.x == 1
    }
    deny {
      when = args.x == [1, args.y]
    }
    deny {
      wait = "1s"
    }
    confirm {
      by    = "nobody"
      wait  = "1h"
      valid = "0s"
    }
  }
  role "dev" {
  }
  group "g" {
    roles = ["devs"]
  }
  subject "" {
  }
}

policy {
}
