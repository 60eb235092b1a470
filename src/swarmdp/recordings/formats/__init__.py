"""Files of tracking tools, one module for each kind; the list of them is `reading.FORMATS`."""
