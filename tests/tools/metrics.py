"""Reads metrics from stdin as Prometheus's own client does; prints each sample as a JSON line: name, labels, value."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.documentation and family.type in ("gauge", "counter"), family
    for sample in family.samples:
        print(json.dumps([sample.name, sample.labels, sample.value]))
