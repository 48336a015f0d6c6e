"""What neither grammar nor words explain: by its likeness to examples, its sound, its parts."""
