# Conditions whose types cannot work, whatever a request is.
server "s" {
  transport "stdio" {
    command = ["s"]
  }
}

policy {
  default = "allow"

  deny {
    when = principal.subject
  }
  deny {
    when = principal.subject > 1
  }
  deny {
    when = principal.subject.name == "a"
  }
  deny {
    when = principal.roles.name == "a"
  }
  deny {
    when = request.client[0] == "a"
  }
  deny {
    when = args == 1
  }
  deny {
    when = principal.roles == ["dev"]
  }
  deny {
    when = startswith(principal.roles, "dev-")
  }
  deny {
    when = lower(request.hour) == "a"
  }
  deny {
    when = matches(args.x, "a(b")
  }
  deny {
    when = matches(args.x, "a)|(b")
  }
  deny {
    when = matches(args.x, "(?=a)")
  }
  deny {
    when = matches(args.x, "((a{1,100}){1,9}b){1,100}")
  }
  deny {
    when = matches(args.x, join("", [for i in range(501) : "ab"]))
  }
  deny {
    when = matches(args.x, args.y)
  }
  deny {
    when = matches(args.x, 1)
  }
  deny {
    when = regex("a", args.x)
  }
  deny {
    when = any(principal.roles)
  }
  deny {
    when = any(principal.roles, "dev-*")
  }
  deny {
    when = any([for r in principal.subject : r == "a"])
  }
  deny {
    when = any([for r in principal.roles : r])
  }
  deny {
    when = any([for r in principal.roles : r > 1])
  }
  deny {
    when = any([for r in principal.roles : true if r])
  }
  deny {
    when = any([for i, r in principal.roles : r == "a"])
  }
  deny {
    when = any({ for r in principal.roles : r => true })
  }
  deny {
    when = any([for args in principal.roles : args == "a"])
  }
  deny {
    when = any([for r in args.a : any([for r in args.b : r == 1])])
  }
  deny {
    when = any([for a in args.a : any([for b in a : any([for c in b : any([for d in c : d == 1])])])])
  }
  deny {
    when = any([for r in principal.roles : x == "a"])
  }
  deny {
    when = alltrue([for r in principal.roles : r == "a"])
  }
  deny {
    when = args.x + 1
  }
  deny {
    when = args.x + "a" == 2
  }
  deny {
    when = -principal.subject == 2
  }
  deny {
    when = request.time + 1 > 2
  }
  deny {
    when = request.time < "2026-12-31"
  }
  deny {
    when = request.time < args.until
  }
  deny {
    when = request.time == request.hour
  }
  deny {
    when = request.time < date("31.12.2026")
  }
  deny {
    when = request.time < date("2026-12-31T18:00")
  }
  deny {
    when = date(1) < request.time
  }
  deny {
    when = contains([1, 2], request.time)
  }
  deny {
    when = date("2026-12-31")
  }
  deny {
    when = request.hour && true
  }
  deny {
    when = request.hour ? true : false
  }
  deny {
    when = 1 < null || args.x < null
  }
}
