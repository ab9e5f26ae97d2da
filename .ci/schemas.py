"""Validates what kgauge writes, and the scenarios that ship, against docs/schema.

Usage: schemas.py SUMMARY.json COMPARISON.json
Needs jsonschema and PyYAML.
"""

import copy
import json
import pathlib
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent


def validator(name):
    schema = json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def expect_valid(checker, value, what):
    errors = [f"{what}: {error.json_path}: {error.message}" for error in checker.iter_errors(value)]
    assert not errors, "\n".join(errors)


def expect_invalid(checker, value, what):
    assert not checker.is_valid(value), f"{what}: the schema accepts it"


def check_summary(path):
    checker = validator("summary")
    summary = json.loads(pathlib.Path(path).read_text())
    expect_valid(checker, summary, path)
    wrong = copy.deepcopy(summary)
    wrong["trials"][0]["flows"][0]["throughput"]["records_per_s"]["mean"] = "fast"
    expect_invalid(checker, wrong, f"{path} with a word for a number")


def check_comparison(path):
    checker = validator("comparison")
    comparison = json.loads(pathlib.Path(path).read_text())
    expect_valid(checker, comparison, path)
    wrong = copy.deepcopy(comparison)
    wrong["rows"] = "none"
    expect_invalid(checker, wrong, f"{path} without rows")


def check_scenarios():
    checker = validator("scenario")
    read = lambda path: yaml.safe_load(path.read_text())
    shipped = [path for path in sorted(ROOT.glob("studies/*/*.yaml")) if path.name != "study.yaml"]
    assert len(shipped) > 30, f"only {len(shipped)} scenarios in studies"
    examples = sorted(ROOT.glob("examples/*.yaml"))
    assert len(examples) > 9, f"only {len(examples)} examples"
    for path in shipped + examples:
        expect_valid(checker, read(path), path)
    for name in ["misspelt-keys", "values-without-unit", "missing-keys", "shapes"]:
        path = ROOT / f"crates/scenario/tests/broken/{name}.yaml"
        expect_invalid(checker, read(path), path)
    return len(shipped)


check_summary(sys.argv[1])
check_comparison(sys.argv[2])
print(f"a summary, a comparison and {check_scenarios()} scenarios fit the published schemas")
