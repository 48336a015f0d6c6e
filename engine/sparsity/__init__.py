"""What is zero is not read: the neurons of feed-forward blocks one by one, and what is known of
how often they fire."""
