# says: write plugins \{ required = 
provider "oauth" {
  scopes = ["read"]
}
