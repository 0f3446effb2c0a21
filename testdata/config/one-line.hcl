server "a" { transport "stdio" { command = ["hunter2"] } }
