// NestFolds: the accumulators of a nest's reductions and scans, from their declaration to their
// results.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"

namespace pragma::expert {

class NestFolds final {
 public:
  explicit NestFolds(NestContext& context) : context_(context) {}

  // Gives the accumulator of a step a new name.
  std::string& Name(const Step& step, std::string_view ending = "");
  [[nodiscard]] FoldForm FormOf(const Step& step) const;
  // Writes the declaration of an accumulator, where the step has one.
  void Declare(const Step& step);
  void WriteDeclaration(const FoldForm& form);
  // Writes what a step does with one element.
  void WriteInside(const Step& step, Writer& body);
  // Writes the result of a reduction behind its pass, and forwards it to the steps that read it.
  void Finish(const Step& step);
  // The same for a sum of parts that is held in `total`.
  void FinishTotal(const Step& step, const std::string& total);

 private:
  [[nodiscard]] std::string PositionText(const Step& step, const FoldForm& form);

  NestContext& context_;
  std::map<int, std::string> names_;  // buffer -> accumulator
};

}  // namespace pragma::expert
