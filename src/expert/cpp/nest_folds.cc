#include "expert/cpp/nest_folds.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

std::string& NestFolds::Name(const Step& step, std::string_view ending) {
  return names_[step.buffer] = context_.values.NewName(step.name + std::string(ending));
}

FoldForm NestFolds::FormOf(const Step& step) const {
  const Nest& nest = context_.nest;
  FoldForm form;
  form.fold = step.fold;
  form.type = step.expr->type;
  form.vector = nest.lane >= 0;
  form.name = names_.at(step.buffer);
  form.chains = nest.LaneInside() ? context_.numbers.chains : "1";
  form.running = step.kind == Step::Kind::kScan;
  if (form.running && form.vector && nest.LaneInside())
    context_.needs.pieces.insert(VectorPiece::kScans);
  form.columns = nest.lane >= 0 && !nest.LaneInside();
  return form;
}

void NestFolds::Declare(const Step& step) {
  if (step.kind == Step::Kind::kMap) return;
  Name(step);
  WriteDeclaration(FormOf(step));
}

void NestFolds::WriteDeclaration(const FoldForm& form) {
  for (const std::string& line : DeclareFold(form)) context_.out.Line(line);
}

std::string NestFolds::PositionText(const Step& step, const FoldForm& form) {
  if (!IsPosition(step)) return "";
  if (!form.vector) return FormText(step.position, context_.loops);
  context_.needs.pieces.insert(VectorPiece::kPositions);
  return context_.values.AsVector(context_.values.Position(step.position));
}

void NestFolds::WriteInside(const Step& step, Writer& body) {
  if (step.kind == Step::Kind::kMap) return WriteMap(context_, step, body);
  const FoldForm form = FormOf(step);
  const Text value = context_.values.Write(step.expr);
  const std::string code = form.vector ? context_.values.AsVector(value) : value.code;
  for (const std::string& line : AddToFold(form, code, PositionText(step, form))) body.Line(line);
  if (step.kind != Step::Kind::kScan) return;
  const Text running{form.columns ? form.name + "[v]" : form.name, form.vector, form.type};
  context_.values.Forward(step.buffer, running);
  Store(context_, body, step, running);
}

void NestFolds::Finish(const Step& step) {
  if (step.kind != Step::Kind::kFold) return;
  const FoldForm form = FormOf(step);
  Text result{form.name, form.columns, step.expr->type};
  if (IsPosition(step)) result.type = ExprType::kInt;
  if (form.columns) {
    result.code += IsPosition(step) ? "_at[v]" : "[v]";
  } else {
    if (form.vector) context_.needs.pieces.insert(VectorPiece::kLanes);
    result.code = context_.values.NewName(step.name + "_all");
    context_.out.Line(fmt::format("const {} {} = {};", ExpressionWriter::TypeName(result),
                                  result.code, FoldResult(form)));
  }
  context_.values.Forward(step.buffer, result);
  if (context_.nest.forwarded.contains(step.buffer)) return;
  if (form.columns) OpenVectors(context_.out);
  Store(context_, context_.out, step, result);
  if (form.columns) context_.out.Line("}");
}

void NestFolds::FinishTotal(const Step& step, const std::string& total) {
  const std::string type = ExpressionWriter::TypeName({"", false, step.expr->type});
  const Text value{context_.values.NewName(step.name + "_all"), false, step.expr->type};
  context_.out.Line(fmt::format("const {0} {1} = static_cast<{0}>({2});", type, value.code, total));
  context_.values.Forward(step.buffer, value);
  if (!context_.nest.forwarded.contains(step.buffer))
    context_.values.StoreTo(context_.out, step.buffer, step.place, value);
}

}  // namespace pragma::expert
