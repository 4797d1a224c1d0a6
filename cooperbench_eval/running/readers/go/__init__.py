"""`go test`."""
