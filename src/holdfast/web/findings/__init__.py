"""What the pages of a study share: how its results may be shown, its summary, candidates, features and profiles."""
