not HCL at all {{{
