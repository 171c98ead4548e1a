#include "expert/cpp/kernel_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/anchored.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/nest_pattern.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/slices.h"

namespace pragma::expert {
namespace {

// Returns a unique name such as "SOFTMAX" for a nest whose first step is "softmax_fold".
std::string TunableName(const Nest& nest, std::set<std::string>& taken) {
  std::string name = nest.steps[0].name;
  const std::size_t end = name.rfind('_');  // start of the suffix that MakeNamesUnique added
  name = InCapitals(end == std::string::npos ? name : name.substr(0, end));
  name.resize(name.find_last_not_of('_') + 1);
  const std::string stem = name;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

// Returns a name such as "ComputeBatchNorm1" for "BATCH_NORM_1".
std::string FunctionName(std::string_view capitals) {
  std::string name = "Compute";
  bool begins = true;
  for (const char c : capitals) {
    if (c != '_')
      name += begins ? c : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    begins = c == '_';
  }
  return name;
}

// Returns whether a nest is in a repeat and has so little work per iteration that threads would
// wait for each other longer than they compute.
bool IsShortTurn(const Nest& nest) {
  constexpr std::int64_t kWorthThreads = std::int64_t{1} << 21;  // number of multiplications
  return nest.one_thread || (nest.repeat >= 0 && Elements(nest.shape) * nest.depth < kWorthThreads);
}

// Returns the constant that holds the bytes of a thread's scratch memory for anchors.
std::string ThreadBytes(const Slices& slices) {
  return fmt::format("kThreadBytes{}", slices.first);
}

bool Uses(const Nest& nest, int buffer) {
  return Writes(nest, buffer) || Reads(nest, buffer) ||
         std::ranges::any_of(nest.steps, [buffer](const Step& step) {
           return step.convolution &&
                  (step.convolution->input == buffer || step.convolution->weight == buffer ||
                   step.convolution->bias == buffer);
         });
}

}  // namespace

std::string BufferAt(const Buffer& buffer, std::string_view memory, std::size_t offset) {
  return fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2} + {3});  // [{4}]",
                     DTypeCppName(buffer.dtype), buffer.name, memory, offset,
                     fmt::join(buffer.shape, ", "));
}

KernelTarget KernelBody::TargetOf(const Nest& nest) const {
  KernelTarget target = target_;
  if (IsShortTurn(nest)) target.threads = 1;
  return target;
}

NestChoices KernelBody::ChoicesOf(const Nest& nest) const {
  NestChoices choices = choices_;
  choices.threads = choices.threads && !IsShortTurn(nest);
  return choices;
}

void KernelBody::Write(const std::vector<Nest>& nests, const std::vector<Slices>& sliced) {
  std::vector<NestPattern> patterns;
  for (const Nest& nest : nests) {
    patterns.push_back(PatternOf(program_, nest, TargetOf(nest), ChoicesOf(nest)));
    ++times_[patterns.back().text];
  }
  auto slices = sliced.begin();
  for (std::size_t n = 0; n < nests.size(); ++n) {
    out_.Line("");
    if (slices != sliced.end() && n == slices->first) {
      if (slices->by_thread) {
        PackWeights(*slices, nests, patterns);
        OpenThreadSlices(*slices, nests);
      } else {
        WriteBefore(*slices, nests, patterns);
        OpenSlices(*slices, nests);
      }
    }
    out_.Line("// " + InWords(nests[n]));
    if (nests[n].anchored) {
      out_.Line(WithScratch(AnchorOf(nests[n], patterns[n]).call, n));
    } else {
      WriteNest(nests[n], patterns[n]);
    }
    if (slices == sliced.end() || n != slices->last) continue;
    CloseSlices();
    ++slices;
  }
}

void KernelBody::PackWeights(const Slices& slices, const std::vector<Nest>& nests,
                             const std::vector<NestPattern>& patterns) {
  std::string at = anchors_at_;
  std::string packed;
  std::string largest;
  for (std::size_t n = slices.first; n <= slices.last; ++n) {
    if (!nests[n].anchored) continue;
    const AnchorText anchor = AnchorOf(nests[n], patterns[n]);
    out_.Line(fmt::format("char* const panels_of_{} = {};", n, at));
    out_.Line(WithScratch(anchor.before, n));
    at = fmt::format("panels_of_{} + {}::kPackedBytes", n, anchor.name);
    packed += fmt::format("{}::kPackedBytes + ", anchor.name);
    largest += fmt::format("{}{}::kScratchBytes", largest.empty() ? "" : ", ", anchor.name);
  }
  out_.Line(fmt::format("char* const panels_of_threads_{} = {};", slices.first, at));
  const std::string bytes = ThreadBytes(slices);
  functions_ += fmt::format(
      "static constexpr std::size_t {} = (std::max({{{}}}) + 63) / 64 * 64;\n\n", bytes, largest);
  NeedScratch(fmt::format("{}{} * {}", packed, target_.threads, bytes));
}

void KernelBody::OpenThreadSlices(const Slices& slices, const std::vector<Nest>& nests) {
  const std::span inside(nests.begin() + static_cast<std::ptrdiff_t>(slices.first),
                         nests.begin() + static_cast<std::ptrdiff_t>(slices.last) + 1);
  out_.Line(fmt::format("// Each thread takes one of {} images at a time through these steps.",
                        slices.images));
  if (choices_.threads && target_.threads > 1)
    out_.Line(
        fmt::format("#pragma omp parallel for num_threads({}) schedule(static)", target_.threads));
  OpenLoop("image", slices.images, 1);
  out_.Line(
      fmt::format("char* const own = static_cast<char*>(scratch) + {} + "
                  "omp_get_thread_num() * {};",
                  slices.base, slices.thread_bytes));
  for (const auto& [buffer, offset] : slices.place)
    out_.Line(BufferAt(program_.buffers[static_cast<std::size_t>(buffer)], "own", offset));
  scratch_ = fmt::format("panels_of_threads_{} + omp_get_thread_num() * {}", slices.first,
                         ThreadBytes(slices));
  NameParts("image", slices.step, slices.inside, inside);
}

void KernelBody::OpenSlices(const Slices& slices, const std::vector<Nest>& nests) {
  const std::span inside(nests.begin() + static_cast<std::ptrdiff_t>(slices.first),
                         nests.begin() + static_cast<std::ptrdiff_t>(slices.last) + 1);
  if (slices.share) {
    const Share& share = *slices.share;
    out_.Line(fmt::format("// Each thread takes {} of {} parts through all iterations.",
                          share.at_once, share.images));
    out_.Line("#pragma omp parallel for schedule(static)");
    OpenLoop("share", share.images, share.at_once);
    NameParts("share", share.step, {}, inside);
  }
  const std::string_view index = slices.in_turn ? "turn" : "image";
  out_.Line(
      slices.in_turn
          ? fmt::format("// {} times in turn: each needs what the one before made.", slices.images)
          : fmt::format("// {} of {} images at a time: what these steps hand on stays in caches.",
                        slices.at_once, slices.images));
  OpenLoop(index, slices.images, slices.at_once);
  NameParts(index, slices.step, slices.inside, inside);
}

void KernelBody::OpenLoop(std::string_view index, std::int64_t count, std::int64_t step) {
  out_.Line(
      fmt::format("for (std::int64_t {0} = 0; {0} < {1}; {0} += {2}) {{", index, count, step));
  ++open_;
}

void KernelBody::NameParts(std::string_view index, const std::map<int, std::int64_t>& steps,
                           const std::set<int>& kept, std::span<const Nest> nests) {
  const std::string_view suffix = index == "share" ? "_share" : "_part";
  for (const auto& [buffer, step] : steps) {
    const auto forwards = [&](const Nest& nest) { return nest.forwarded.contains(buffer); };
    const auto writes = [&](const Nest& nest) { return Writes(nest, buffer); };
    if (step == 0 || kept.contains(buffer) || std::ranges::any_of(nests, forwards)) continue;
    const auto uses = [&](const Nest& nest) { return Uses(nest, buffer); };
    if (std::ranges::none_of(nests, uses)) continue;
    Buffer& part = program_.buffers[static_cast<std::size_t>(buffer)];
    whole_names_.emplace(buffer, part.name);
    out_.Line(fmt::format("{0}{1}* const {2}{3} = {2} + {4} * {5};",
                          std::ranges::any_of(nests, writes) ? "" : "const ",
                          DTypeCppName(part.dtype), part.name, suffix, index, step));
    part.name += suffix;
  }
}

void KernelBody::CloseSlices() {
  for (const auto& [buffer, name] : whole_names_)
    program_.buffers[static_cast<std::size_t>(buffer)].name = name;
  whole_names_.clear();
  scratch_ = anchors_at_;
  for (; open_ > 0; --open_) out_.Line("}");
}

void KernelBody::WriteBefore(const Slices& slices, const std::vector<Nest>& nests,
                             const std::vector<NestPattern>& patterns) {
  for (std::size_t n = slices.first; n <= slices.last; ++n) {
    if (!nests[n].keeps_right) continue;
    const AnchorText anchor = AnchorOf(nests[n], patterns[n]);
    if (!anchor.before.empty()) out_.Line(WithScratch(anchor.before, n));
  }
}

// Returns the call of an anchor. Its function is written at the first use.
AnchorText KernelBody::AnchorOf(const Nest& nest, const NestPattern& pattern) {
  std::string& name = written_as_[pattern.text];
  const bool first = name.empty();
  if (first) {
    name = nest.steps[0].name;  // a name such as "linear_1_fold"
    const std::string_view what = nest.steps[0].routine ? "_lines" : "_product";
    name.resize(name.rfind('_'));
    name += ++anchors_ > 1 ? fmt::format("{}_{}", what, anchors_) : what;
  }
  Needs needs;
  AnchorText anchor = EmitAnchor(program_, nest, {TargetOf(nest), name, choices_.tuning}, needs);
  if (!first) needs.facts.tunables.clear();  // known from the first use
  function_needs_.Add(needs);
  if (first) {
    functions_ += anchor.function + "\n";
    NeedScratch(name + "::kScratchBytes");
  }
  anchor.name = name;
  return anchor;
}

void KernelBody::NeedScratch(const std::string& bytes) {
  anchor_scratch_ =
      anchor_scratch_.empty() ? bytes : fmt::format("Larger({}, {})", anchor_scratch_, bytes);
}

std::string KernelBody::WithScratch(const std::string& call, std::size_t n) const {
  return FillIn(call, {{"scratch", scratch_}, {"packed", fmt::format("panels_of_{}", n)}});
}

void KernelBody::WriteNest(const Nest& nest, const NestPattern& pattern) {
  if (times_.at(pattern.text) == 1) {
    choices_.name = TunableName(nest, tunables_);
    return EmitNest(program_, nest, ChoicesOf(nest), body_needs_, out_);
  }
  const RebasedNest rebased = Rebased(nest);
  std::string& name = written_as_[pattern.text];
  if (name.empty()) name = AddFunction(rebased, pattern);
  out_.Line(Call(name, rebased, pattern));
}

std::string KernelBody::AddFunction(const RebasedNest& rebased, const NestPattern& pattern) {
  choices_.name = TunableName(rebased.nest, tunables_);
  const std::string name = FunctionName(choices_.name);
  std::string parameters;
  for (const int buffer : pattern.buffers) {
    const Buffer& used = program_.buffers[static_cast<std::size_t>(buffer)];
    parameters += fmt::format("{}{}{}* {}", parameters.empty() ? "" : ", ",
                              Writes(rebased.nest, buffer) ? "" : "const ",
                              DTypeCppName(used.dtype), used.name);
  }
  Writer function;
  function.Line(fmt::format("// {}: {} times, named as the first time.", InWords(rebased.nest),
                            times_.at(pattern.text)));
  function.Line(fmt::format("static void {}({}) {{", name, parameters));
  EmitNest(program_, rebased.nest, ChoicesOf(rebased.nest), function_needs_, function);
  function.Line("}");
  functions_ += function.text() + "\n";
  return name;
}

std::string KernelBody::Call(const std::string& function, const RebasedNest& rebased,
                             const NestPattern& pattern) const {
  std::string arguments;
  for (const int buffer : pattern.buffers) {
    const std::int64_t start = rebased.start.at(buffer);
    arguments += fmt::format("{}{}{}", arguments.empty() ? "" : ", ",
                             program_.buffers[static_cast<std::size_t>(buffer)].name,
                             start == 0 ? "" : fmt::format(" + {}", start));
  }
  return fmt::format("{}({});", function, arguments);
}

}  // namespace pragma::expert
