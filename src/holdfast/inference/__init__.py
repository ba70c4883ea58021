"""From measures to statements: estimates with their uncertainty, comparisons, plans, features, agreements."""
