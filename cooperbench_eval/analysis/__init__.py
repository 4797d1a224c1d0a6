"""Many reports: their facts, what is counted over them, and tables of them."""
