"""Verifies the DKIM signature of each file with dkimpy; the key's record stands in RECORD."""
import os
import sys

import dkim

for path in sys.argv[1:]:
    with open(path, "rb") as file:
        is_valid = dkim.verify(file.read(), dnsfunc=lambda name, timeout=5: os.environ["RECORD"].encode())
    print("pass" if is_valid else "fail")
