// from my editor
{
  "servers": { // two of them
    "a": { "command": "a", "env": { "TOKEN": "hunter2" }, },
  },
}
