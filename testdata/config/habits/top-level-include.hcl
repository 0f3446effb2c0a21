# says: with --config
include = ["servers/*.hcl"]
