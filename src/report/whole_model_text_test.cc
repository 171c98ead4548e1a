#include "report/whole_model_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "core/json_reader.h"
#include "core/timing.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

ModelReport Report() {
  ModelReport report{.name = "mine",
                     .kind = "Mine",
                     .parameters = 1200,
                     .operators = 90,
                     .seconds = 0.25,
                     .threads = 2,
                     .cpu = "a processor",
                     .torch = "2.13.0"};
  report.parts.push_back({.name = "u1",
                          .kind = "Block",
                          .path = "blocks.0",
                          .uses = 3,
                          .operators = 20,
                          .share = 0.8,
                          .speedup = Interval{2.0, 1.9, 2.1},
                          .whole = Interval{1.6, 1.5, 1.7},
                          .outcome = "kept",
                          .runs = {"r-1"}});
  report.left.push_back({.path = "head", .kind = "Head", .share = 0.1, .why = "it takes a Cache"});
  report.figures = ModelFigures{.eager_ms = Interval{250, 240, 260},
                                .compile = {.mode = "", .tried = {}, .failure = "not asked for"},
                                .kernels_ms = Interval{150, 145, 155},
                                .speedup_eager = Interval{1.67, 1.6, 1.7},
                                .rounds = 12,
                                .error = 2e-7,
                                .eager_error = 1e-7,
                                .limit = 1e-6,
                                .reference = "float64"};
  report.folder = "fast";
  return report;
}

const Terminal kPlain{};

TEST(WholeModelText, SaysWhatCouldBeGained) {
  const std::string text = ModelPartsText(kPlain, Report());
  EXPECT_THAT(text, HasSubstr("90 operators in a call of 250 ms, 2 threads"));
  EXPECT_THAT(text, HasSubstr("blocks.0 and 2 more"));
  EXPECT_THAT(text, HasSubstr("5.00x"));  // a part with 80 % of the time
  EXPECT_THAT(text, HasSubstr("Torch keeps Head head (10 %): it takes a Cache"));
}

TEST(WholeModelText, EndsWithWhatTheUserDoesNext) {
  ModelReport report = Report();
  EXPECT_THAT(ModelText(kPlain, report), HasSubstr("pk.apply(model, \"fast\")"));
  EXPECT_THAT(ModelText(kPlain, report), Not(HasSubstr("torch.compile(model)")));
  report.figures->compiled_kernels_ms = Interval{140, 138, 143};
  report.figures->compiled_is_faster = true;
  EXPECT_THAT(ModelText(kPlain, report), HasSubstr("model = torch.compile(model)"));
  report.folder.clear();
  EXPECT_THAT(ModelText(kPlain, report), HasSubstr("nothing was written"));
}

TEST(WholeModelText, TheObjectHasTheDocumentedFields) {
  const Result<JsonReader> object = JsonReader::Parse(ModelObject(Report()), "object");
  ASSERT_TRUE(object);
  double share = 0;
  std::string folder;
  (*object)["parts"].items().at(0).Get("share", share);
  object->Get("folder", folder);
  EXPECT_EQ(share, 0.8);
  EXPECT_EQ(folder, "fast");
  EXPECT_TRUE((*object)["whole"]["speedup"]["compile"].null());
  double median = 0;
  (*object)["whole"]["speedup"]["eager"].Get("median", median);
  EXPECT_EQ(median, 1.67);
}

}  // namespace
}  // namespace pragma
