// Reads and writes the figures of an evaluation: times, speedups, and what they were measured
// under. Private to core.
#pragma once

#include <optional>
#include <string_view>

#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/timing.h"

namespace pragma {

struct Evaluation;

void WriteTiming(JsonWriter& writer, std::string_view name, const std::optional<Timing>& timing);
void ReadTiming(const JsonReader& reader, std::optional<Timing>& out);
// A ratio of two times with its interval.
void WriteRatio(JsonWriter& writer, std::string_view name, const std::optional<Interval>& ratio);
void ReadRatio(const JsonReader& reader, std::optional<Interval>& out);
// All times and speedups of an evaluation, as members of its object.
void WriteFigures(JsonWriter& writer, const Evaluation& evaluation);
void ReadFigures(const JsonReader& reader, Evaluation& evaluation);

}  // namespace pragma
