# red-team: task=linear expect=compile_error run-limit=10s no-timing
class ModelNew(
