# red-team: task=linear expect=compile_error
class ModelNew(
