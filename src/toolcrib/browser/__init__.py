"""The browser room: one Chromium behind the guard, its tabs, snapshots of pages, and acting."""
