module example.org/acme-junctor

go 1.26.0

require github.com/junctor-mcp/junctor/sdk v0.3.0

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/hashicorp/go-hclog v1.6.3 // indirect
	github.com/hashicorp/yamux v0.1.2 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/junctor-mcp/junctor/sdk => ../../sdk
