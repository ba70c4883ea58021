"""From a table to a running study: how a table is read, what a plan can be made of, what it costs, and its start."""
