locals {
  names = ["b", "a", "", "a"]
  ages  = { bob = 5, eve = 7 }
}

server "f" {
  transport "stdio" {
    command = ["x"]
    args = concat(
      sort(distinct(compact(local.names))),
      [
        join("-", split(" ", "a b c")), upper("x"), lower("Y"), trim("--z--", "-"), trimspace("  t "),
        trimprefix("mcp-git", "mcp-"), trimsuffix("a.hcl", ".hcl"), replace("a.b.c", ".", "/"),
        format("%s=%03d", "n", 7), tostring(length(local.names)), tostring(length("héllo")), tostring(length(local.ages)),
        tostring(startswith("abc", "ab")), tostring(endswith("abc", "bc")), tostring(contains(local.names, "b")),
        join(",", keys(local.ages)), join(",", [for v in values(local.ages) : tostring(v)]),
        tostring(lookup(local.ages, "bob", 0)), tostring(lookup(local.ages, "zoe", 1)),
        join(",", flatten([["p"], ["q", "r"]])), coalesce(null, "c"), join(",", [for n in range(3) : "${n}"]),
        jsonencode({ a = [1, true] }), jsondecode("{\"k\":\"v\"}").k, base64encode("hi"), base64decode("aGk="),
        try(local.ages.zoe, "nobody"), tostring(can(local.ages.zoe)), tostring(min(3, 1)), tostring(max(3, 1)),
        tostring(tonumber("4") + 1), tostring(tobool("true")), tolist(["l"])[0], tomap({ m = "n" }).m,
        merge({ a = "1" }, { a = "2" }).a, env("NOT_SET", "fallback"), join(",", [{ n = "s" }][*].n),
        "%{ for n in local.names }<${n}>%{ endfor }%{ if true }yes%{ else }no%{ endif }",
        <<-EOT
          heredoc
            indented
        EOT
      ],
    )
  }
}
