"""One file a family: the name of the file is its `general.architecture`, FAMILY what differs."""
