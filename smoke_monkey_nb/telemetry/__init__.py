"""What a run cost and did: prices, the ledger, the store on disk, and the DataFrames over them."""
