servers {
  allow     = "github"
  deny      = [{ name = "a", url = "https://a.example.com" }, { program = "x" }, { name = "" }]
  exclusive = true
}
