"""From measures to statements: estimates, agreements of aligned runs."""
