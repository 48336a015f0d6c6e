"""The household: its floors, areas and entities, and what can be done to them."""
