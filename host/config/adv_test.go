package config
import ("testing";"time";"strings";"fmt")
func TestAdversary(t *testing.T) {
	rep := func(s string, n int) string { return "x = ["+strings.Repeat(s+", ", n)+"1]\n" }
	big := "big = join(\"\", [for a in range(1000) : format(\"%999s\", \"x\")])\n"
	for name, text := range map[string]string{
		"distinct": "l = range(1000)\n"+rep("distinct(local.l)", 9000),
		"json": "s = join(\",\", [for a in range(1000): \"[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\"])\n"+rep("jsondecode(\"[${local.s}]\")", 9000),
		"split": big+rep("split(\"\", local.big)", 9000),
		"trim": big+"big2 = \"${substr}\"\n",
		"trim2": big+rep("trim(local.big, \"é y x\")", 9000),
		"upper": big+rep("upper(local.big)", 9000),
		"replace": big+rep("replace(local.big, \"y\", \"z\")", 9000),
		"tolist": "l = [for i in range(1000): {a = i}]\n"+rep("tolist(local.l)", 9000),
		"tolist2": "l = [for i in range(1000): {\"a${i}\" = i}]\n"+rep("can(tolist(local.l))", 9000),
		"tomap": "l = {for i in range(1000): i => [i]}\n"+rep("tomap(local.l)", 9000),
		"sort": "l = [for i in range(1000): tostring(999-i)]\n"+rep("sort(local.l)", 9000),
		"merge": "l = {for i in range(1000): i => i}\n"+rep("merge(local.l, local.l, local.l)", 9000),
		"keys": "l = {for i in range(1000): i => i}\n"+rep("keys(local.l)", 9000),
		"format": "l = {for i in range(1000): i => i}\n"+rep("format(\"%v\", local.l)", 9000),
		"encode": "l = {for i in range(1000): i => i}\n"+rep("jsonencode(local.l)", 9000),
		"cond": "l = {for i in range(1000): \"${i}\" => i}\nm = {for i in range(1000): \"a${i}\" => i}\n"+rep("can(true ? local.l : local.m)", 9000),
		"cond2": "l = [for i in range(1000): {a = i}]\n m = [for i in range(999): {a = i}]\n"+rep("can(true ? local.l : local.m)", 9000),
		"eq": "l = [for i in range(1000): {a = i}]\n"+rep("local.l == local.l", 9000),
		"coalesce": "l = [for i in range(1000): {a = i}]\n"+rep("can(coalesce(local.l, local.l, local.l))", 9000),
		"flatten": "l = [for i in range(1000): [i]]\n"+rep("flatten(local.l)", 9000),
		"nulltype": "l = [for i in range(1000): [i]]\n n = false ? local.l : null\n"+rep("local.n", 9000),
		"contains": "l = [for i in range(1000): [i]]\n"+rep("contains(local.l, [1])", 9000),
		"num": "n = 1e300\n"+rep("\"${local.n}\"", 9000),
		"splat": "l = [for i in range(1000): [i]]\n"+rep("local.l[*][*][*]", 9000),
		"diags": rep("1 + \"x\"", 60000),
		"hugeline": rep("sk_live", 150000),
		"index": "l = range(1000)\n"+rep("[for i in range(1000): local.l[i]]", 9000),
		"locals": func() string { var b strings.Builder; b.WriteString("a0 = [1]\n"); for i:=1;i<15000;i++ { fmt.Fprintf(&b, "a%d = local.a%d\n", i, i-1) }; return b.String() }(),
		"localswide": func() string { var b strings.Builder; for i:=1;i<30000;i++ { fmt.Fprintf(&b, "a%d = %d\n", i, i-1) }; return b.String() }(),
	} {
		begin := time.Now()
		_, ds := loadText(t, "locals {\n"+text+"}\n")
		s := ""
		if len(ds) > 0 { s = ds[0].Summary }
		t.Logf("%-10s %8v %d %.60s", name, time.Since(begin).Round(time.Millisecond), len(ds), s)
	}
}
