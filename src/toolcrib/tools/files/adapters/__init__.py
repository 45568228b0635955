"""What models say to file tools who learnt it from those of other systems."""
