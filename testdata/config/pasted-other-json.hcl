{"a": [1, 2], "token": "hunter2"}
