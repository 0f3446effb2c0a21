# Literals that are not known to be harmless are masked where they stand, and
# change no word of a message.
plugins {
  required = {
    absent = { source = "./absent" }
  }
}
server "a" {
  transport "stdio" {
    comand = ["the", "program", "could", "not", "describe", "absent", "plugin", "value", "attribute", "object"]
  }
}
server "b" {
  transport "absent" {
    x = 1
  }
}
server "c" {
  transport "stdio" {
    command = [lookup({ a = "x" }), tonumber("number"), { a = 1 }.b, tobool("strings")]
    env     = { A = { b = 1 }["number"], B = local.words[0].nothing, C = { b = 1 }.missing }
  }
}
locals {
  words = [{ a = "attribute" }]
  wrong = local.words[0].named
  quote = tonumber("number")
}
