"""Classifies loads with the package MLRsearch. Reads cases as JSON lines, writes one class per line."""

import json
import sys

from MLRsearch.target_spec import TargetSpec
from MLRsearch.target_stat import TargetStat
from MLRsearch.trial_measurement import MeasurementResult

CLASSES = {(True, True): "lower", (False, False): "upper", (True, False): "undecided"}

for line in sys.stdin:
    case = json.loads(line)
    target = TargetSpec(
        loss_ratio=0.0,
        exceed_ratio=case["exceed"],
        trial_duration=case["window_s"],
        duration_sum=case["duration_s"],
        # The classification does not use these.
        discrete_width=None,
        expansion_coefficient=1,
        fail_fast=False,
        preceding=None,
    )
    stat = TargetStat(target)
    for duration, kept in case["windows"]:
        lost = 0 if kept else 1
        stat.add(MeasurementResult(duration, 1000.0, offered_count=1000, loss_count=lost))
    print(CLASSES[stat.estimates()])
