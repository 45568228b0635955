"""What runs leave on disk: folders of our own, the upper sides of overlays, indexes of trees."""
