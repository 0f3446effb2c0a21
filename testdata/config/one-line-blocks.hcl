server "a" { tools {} transport "stdio" { command = ["hunter2"] } }
