"""Speed as ratios to named references: `make bench`, or `python -m benchmarks NAME ...`."""
