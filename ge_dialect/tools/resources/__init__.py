"""`--resources`: streams, events, notifies, labels, tasks and bytes that a model takes, against a device's limits."""

from ge_dialect.tools.resources.count import resources_of
from ge_dialect.tools.resources.model import Ids, Resources, Row, Usage
from ge_dialect.tools.resources.report import to_json, to_text

__all__ = ["Ids", "Resources", "Row", "Usage", "resources_of", "to_json", "to_text"]
